"""The document on the splitter is complete and matches its scenarios and its model."""

from __future__ import annotations

import re
from importlib.resources import files

from fscontract.contract.scenarios.splitter import SCENARIOS
from fscontract.contract.spec.clauses import Clause, Level, clauses, documents

MODEL = SCENARIOS.model
#: The clauses of the document; ids are never dropped or reused.
IDS = """
metadata-first file-metadata uri relative-path version-kept block-size default-block-size
settings-valid block-count ids-listed ids-form ids-unique cover order end-offset last-flag linked
first-unlinked block-file block-file-length data-offset empty-file directory lazy unopened
discover-time file-order pending-first threshold threshold-fill file-start uncounted
threshold-default checkpoint-in-file base-order base-idle base-missing base-checkpoint scan-async
scan-first scan-once scan-interval trigger trigger-during modified-time modified-older
modified-size modified-etag modified-whole modified-nested recursive flat name-pattern
ignore-pattern pattern-directories copying inputs-list inputs-required input-file overlap
empty-input vanished missing-once consumed backpressure scan-error stop replay-same replay-changed
replay-gone replay-directory replay-settings replay-alone replay-first-live window-empty
window-once window-torn window-purge window-partitions noop checkpoint-between
restored-references replayed-references unprocessed-again fast
"""
#: Headings of the source document.
SECTIONS = {
    "Why is it needed?",
    "AbstractFileSplitter",
    "process() method",
    "Abstract methods",
    "Configuration",
    "FileSplitterBase",
    "FileSplitterInput",
    "Handling of split records",
}
#: What was fixed in the history of Apex Malhar's splitter, each under one of its names.
HISTORY = {
    *("APEXMALHAR-2003", "APEXMALHAR-2004", "APEXMALHAR-2008", "APEXMALHAR-2005"),
    *("APEXMALHAR-2078", "APEXMALHAR-2103", "APEXMALHAR-2069", "APEXMALHAR-1852"),
    *("APEXMALHAR-2312", "APEXMALHAR-2068", "f99696aff", "a3f1b3cac", "0500e0ea4"),
    *("d6943a7cd", "c79c624a6", "1c0212de1", "5595da7a1"),
}


def _own() -> list[Clause]:
    return [c for c in clauses().values() if c.document == "splitter"]


def test_splitter_has_its_clauses_in_order() -> None:
    assert [c.id for c in _own()] == [f"split.{name}" for name in IDS.split()]


def test_splitter_clauses_have_the_splitter_api() -> None:
    assert documents()["splitter"].api == "splitter"
    assert {c.api for c in _own()} == {"splitter"}
    assert {c.document for c in clauses().values() if c.api == "splitter"} == {"splitter"}


def test_splitter_sections_are_headings_of_the_source() -> None:
    assert {c.section for c in _own()} == SECTIONS


def test_splitter_checks_are_the_scenarios_of_their_clauses_or_the_model() -> None:
    listed = {(check, c.id) for c in _own() for check in c.checks if check != MODEL}
    assert listed == {
        (f"splitter.{s.name}", clause) for s in SCENARIOS.scenarios for clause in s.clauses
    }


def test_splitter_model_names_the_clauses_that_name_it() -> None:
    source = files("fscontract.contract.models").joinpath("splitter.py").read_text("utf-8")
    named = set(re.findall(r'"(split\.[a-z-]+)"', source))
    assert named == {c.id for c in _own() if MODEL in c.checks}


def test_splitter_scenarios_have_unique_names_and_a_sentence() -> None:
    names = [s.name for s in SCENARIOS.scenarios]
    assert len(set(names)) == len(names)
    assert [s.name for s in SCENARIOS.scenarios if not s.description.endswith(".")] == []


def test_bugs_of_apex_malhars_history_are_named_by_testable_clauses() -> None:
    named = {ref for c in _own() if c.testable for ref in c.refs}
    assert HISTORY - named == set()


def test_splitter_clauses_that_differ_from_java_say_so() -> None:
    of_java = [c for c in _own() if "Java" in c.reading]
    assert len(of_java) >= 14
    unspecified = [c.id for c in _own() if c.level is Level.UNSPECIFIED]
    assert unspecified == ["split.file-order"]
