"""The files of known failures in benchmarks/matrix: each entry has a finding with its clause."""

from __future__ import annotations

from itertools import chain

from benchmarks.matrix.explained import FINDINGS, findings
from benchmarks.matrix.places import PLACES
from benchmarks.matrix.targets import HERE, TARGETS
from benchmarks.releases import LIBRARIES
from fscontract.contract.report.matrix import load_findings
from fscontract.contract.spec.known_failures import load_known

WITH_FILE = [t for t in TARGETS if t.known.exists()]


def test_targets_of_the_matrix_have_unique_names_and_known_places() -> None:
    assert len(TARGETS) >= 25
    assert len({t.slug for t in TARGETS}) == len(TARGETS)
    of_libraries = chain.from_iterable(LIBRARIES.values())
    assert {t.place for t in chain(TARGETS, of_libraries)} == set(PLACES)


def test_every_known_file_is_of_a_target() -> None:
    assert {p.name for p in (HERE / "known").iterdir()} == {t.known.name for t in WITH_FILE}


def test_known_entries_name_findings_of_their_target_with_the_clause() -> None:
    linked = load_findings(FINDINGS, "").anchors or {}
    entries = [(target, entry) for target in WITH_FILE for entry in load_known(target.known)]
    for target, entry in entries:
        ids = entry.issue.split()
        assert ids, (target.slug, entry.clause)
        for number in ids:
            where = (target.slug, entry.clause, number)
            assert number in target.findings.split(), where
            assert entry.clause in findings()[number][1], where
            assert number in linked, where
    assert entries


def test_findings_of_targets_exist() -> None:
    named = {target.slug: {*target.findings.split()} for target in TARGETS}
    assert {slug: ids - findings().keys() for slug, ids in named.items()} == {
        slug: set() for slug in named
    }


def test_places_provide_the_arguments_of_targets() -> None:
    """Every name in braces is replaced, as far as a place knows without running."""
    words = {"directory", "archive", "copy", "web", "ftp", "bucket", "url", "region", "key"}
    words |= {"secret", "port", "references", "protocol"}
    provided = dict.fromkeys(words, "x")
    arguments = [(t.slug, word) for t in TARGETS for word in t.arguments(provided)]
    assert [(slug, word) for slug, word in arguments if "{" in word and '"' not in word] == []
