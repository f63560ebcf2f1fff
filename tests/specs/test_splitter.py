"""The document on the splitter is complete, and says the same as the code that checks it."""

from __future__ import annotations

import re
from importlib.resources import files

from fscontract.contract.scenarios.splitter.check import MODEL, scenarios
from fscontract.contract.spec.clauses import Clause, Level, clauses, documents

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


def test_every_clause_is_there_in_its_order() -> None:
    """Whoever speaks of an id finds it for ever."""
    assert [c.id for c in _own()] == [f"split.{name}" for name in IDS.split()]


def test_the_document_is_about_splitters() -> None:
    """No run on a stream is told that it left these clauses out."""
    assert documents()["splitter"].api == "splitter"
    assert {c.api for c in _own()} == {"splitter"}
    assert {c.document for c in clauses().values() if c.api == "splitter"} == {"splitter"}


def test_sections_are_headings_of_the_document() -> None:
    """A reader can look them up."""
    assert {c.section for c in _own()} == SECTIONS


def test_every_check_of_the_document_is_a_scenario_or_the_model() -> None:
    """And the scenario speaks of the clause, as the clause does of the scenario."""
    listed = {(check, c.id) for c in _own() for check in c.checks if check != MODEL}
    assert listed == {(f"splitter.{s.name}", clause) for s in scenarios() for clause in s.clauses}


def test_the_model_names_exactly_the_clauses_that_name_it() -> None:
    """Read from its source: it wants something of each."""
    source = files("fscontract.contract.models").joinpath("splitter.py").read_text("utf-8")
    named = set(re.findall(r'"(split\.[a-z-]+)"', source))
    assert named == {c.id for c in _own() if MODEL in c.checks}


def test_names_of_scenarios_are_unique_and_each_says_what_happens_in_it() -> None:
    """The sentence is all that a report has of it."""
    names = [s.name for s in scenarios()]
    assert len(set(names)) == len(names)
    assert [s.name for s in scenarios() if not s.says.endswith(".")] == []


def test_every_bug_of_the_history_is_named_by_a_testable_clause() -> None:
    """It was there once, and may come again."""
    named = {ref for c in _own() if c.testable for ref in c.refs}
    assert HISTORY - named == set()


def test_clauses_that_the_text_does_not_have_say_where_they_come_from_or_what_is_read() -> None:
    """Everything that differs from Apex Malhar is a decision, which stands in the document."""
    of_java = [c for c in _own() if "Java" in c.reading]
    assert len(of_java) >= 14
    unspecified = [c.id for c in _own() if c.level is Level.UNSPECIFIED]
    assert unspecified == ["split.file-order"]
