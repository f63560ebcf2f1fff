"""The files of known failures in benchmarks/matrix: each entry has a finding with its clause."""

from __future__ import annotations

import pytest

from benchmarks.matrix.explained import FINDINGS, findings
from benchmarks.matrix.places import PLACES
from benchmarks.matrix.targets import HERE, TARGETS, Target
from fscontract.contract.report.matrix import load_findings
from fscontract.contract.spec.known_failures import load_known

WITH_FILE = [t for t in TARGETS if t.known.exists()]


def test_there_are_as_many_targets_as_the_matrix_wants() -> None:
    """Of different names, each at a place that is there."""
    assert len(TARGETS) >= 25
    assert len({t.slug for t in TARGETS}) == len(TARGETS)
    assert {t.place for t in TARGETS} == set(PLACES)


def test_every_file_is_that_of_a_target() -> None:
    """None is left of a target that is gone."""
    assert {p.name for p in (HERE / "known").iterdir()} == {t.known.name for t in WITH_FILE}


@pytest.mark.parametrize("target", WITH_FILE, ids=lambda t: t.slug)
def test_every_entry_has_a_finding(target: Target) -> None:
    """Which names the clause, is one of the target's, and can be linked to."""
    linked = load_findings(FINDINGS, "").anchors or {}
    for entry in load_known(target.known):
        ids = entry.issue.split()
        assert ids, entry.clause
        for number in ids:
            assert number in target.findings.split()
            assert entry.clause in findings()[number][1], number
            assert number in linked


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.slug)
def test_every_finding_of_a_target_is_there(target: Target) -> None:
    """And every name in braces is provided, for all that a place can tell without running."""
    assert set(target.findings.split()) <= findings().keys()
    words = {"directory", "archive", "copy", "web", "ftp", "bucket", "url", "region", "key"}
    words |= {"secret", "port"}
    made = target.arguments(dict.fromkeys(words, "x"))
    assert not any("{" in word and '"' not in word for word in made)
