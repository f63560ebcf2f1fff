"""Tests that mutants of openFile() over Hadoop's builders are rejected."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator

import pytest

from fscontract.contract.runner.result import RunResult, Verdict
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings, with_checks
from fscontract.contract.spec.clauses import Clause, clauses
from fscontract.contract.spec.profiles import Profile, load_profile
from fscontract.contract.targets import resolve_target
from fscontract.fakes.mutants.correct_parts import OpeningFileSystem, filesystem_of
from fscontract.fakes.mutants.hadoop import opening_over_hadoop
from fscontract.fakes.mutants.kinds import BROKEN
from fscontract.fakes.mutants.registry import Mutant, mutants
from fscontract.implementations.bindings.hadoop.binding import HadoopBinding

#: Clauses that RawLocalFileSystem violates, so that their mutants do not show: finding H6.
OWN = {"open.number-default", "open.std-recognised"}
#: Clauses that a process which can read every file, such as root, can't check.
ROOT = {"open.permission-delayed"} if os.geteuid() == 0 else set()
#: Mutants of filesystem-specific keys, which Hadoop's local filesystems lack; one that equals their
#: behaviour (H6); and one that changes bytes which a Hadoop stream does not see.
NONE = {"OwnDemandsAreChecked", "BufferMustBePositive", "RangesWithZeros"}
_KEYS = "openfile-unsupported-keys"
#: Mutants that need thousands of programs: ten seconds to minutes each.
DEAR = {
    "FooterIsOld",
    "ForeignStatusNamesFile",
    "ForwardOnly",
    "FullyUpToRealEnd",
    "NameCheckedWhenSet",
    "NameUnchecked",
    "NothingUpToDeclaredEnd",
    "PreadNothingUpToDeclaredEnd",
    "ReversedSplitIsEmpty",
    "SeeksInSplitOnly",
    "SplitIsFile",
    "StatusNamesFile",
    "VectoredOnly",
}
#: Features that Hadoop's local filesystems do not declare, required by the clauses.
LACKING = {"supports-io-statistics", "openfile-pins-version", _KEYS}
PROFILE = load_profile("hadoop-raw").with_features(("!python-file",))
OPENS = tuple(c for c in with_checks(clauses().values()) if c.document == "openfile")


def _profile(mutated: Mutant) -> Profile:
    return PROFILE.with_features([f for f in mutated.features if f != _KEYS])


def _mutants() -> list[Mutant]:
    """Return the mutants whose clause Hadoop declares and satisfies."""
    judged = {c.id: c for c in OPENS if c.id not in OWN | ROOT}
    return [
        m
        for m in mutants("openfile")
        if m.clause in judged
        and m.name not in NONE
        and not _profile(m).satisfies(judged[m.clause].needs)
    ]


@pytest.fixture(scope="module")
def beneath(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HadoopBinding]:
    """Files of RawLocalFileSystem."""
    folder = tmp_path_factory.mktemp(f"raw-{uuid.uuid4().hex[:8]}")
    binding = resolve_target(f"hadoop+raw://{folder}", {})
    assert isinstance(binding, HadoopBinding)
    binding.prepare()
    yield binding
    binding.dispose()


def _run(
    made: type[OpeningFileSystem],
    beneath: HadoopBinding,
    profile: Profile,
    judged: tuple[Clause, ...],
    stop: bool = False,
) -> RunResult:
    binding = opening_over_hadoop(made, beneath, made.__name__)
    return check(binding, Settings(profile, judged, stop_at_first=stop))


def _verdict(mutated: Mutant, beneath: HadoopBinding) -> Verdict:
    made = filesystem_of(mutated.part)
    judged = (clauses()[mutated.clause],)
    return _run(made, beneath, _profile(mutated), judged, stop=True).clauses[0].outcome


def test_each_clause_has_a_mutant_here_or_a_reason_to_have_none() -> None:
    """Hadoop lacks the clause's feature, or violates it; or this process can read everything."""
    without = {c.id: c for c in OPENS}
    for mutated in _mutants():
        without.pop(mutated.clause, None)
    lacking = {name for name, clause in without.items() if LACKING.intersection(clause.needs)}
    assert without.keys() - lacking == OWN | ROOT


@pytest.mark.parametrize("mutated", [m for m in _mutants() if m.name not in DEAR], ids=str)
def test_a_mutant_over_hadoops_builder_is_rejected(mutated: Mutant, beneath: HadoopBinding) -> None:
    """By the broken clause."""
    assert _verdict(mutated, beneath) in BROKEN, mutated.says


@pytest.mark.deep
@pytest.mark.parametrize("mutated", [m for m in _mutants() if m.name in DEAR], ids=str)
def test_a_mutant_that_shows_late_is_rejected_as_well(
    mutated: Mutant, beneath: HadoopBinding
) -> None:
    """By its clause, too."""
    assert _verdict(mutated, beneath) in BROKEN, mutated.says


@pytest.mark.deep
def test_unmodified_builder_violates_only_hadoops_clauses(
    beneath: HadoopBinding,
) -> None:
    """And no more, so that a mutant's verdict is its own."""
    result = _run(OpeningFileSystem, beneath, PROFILE, OPENS)
    assert {c.clause.id for c in result.clauses if c.outcome in BROKEN} == OWN
    hadoop = check(beneath, Settings(PROFILE, OPENS))
    assert [(c.clause.id, c.outcome) for c in result.clauses] == [
        (c.clause.id, c.outcome) for c in hadoop.clauses
    ]
