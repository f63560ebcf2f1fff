"""Mutation tests of the suite: each mutant is found by its clause, and by no other."""

from __future__ import annotations

from operator import attrgetter

import pytest

from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings, with_checks
from fscontract.contract.spec.clauses import Level, clauses
from fscontract.fakes.mutants.correct_parts import MutantFileSystem, OpeningFileSystem
from fscontract.fakes.mutants.kinds import BROKEN, KINDS, Kind, OpenFileKind, reference_with
from fscontract.fakes.mutants.openfile.variants import OPENINGS
from fscontract.fakes.mutants.registry import Mutant, kill_table, mutants
from fscontract.fakes.mutants.stream.variants import OF_RANGES, VARIANTS, Variant
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.memory import MemoryInputStream
from tests.few_programs import run_few
from tests.samples import sampled

#: Mutants of streams, files and opens.
MUTANTS = mutants(
    *("fsdatainputstream", "python-file", "openfile"),
    *("fsspec-filesystem", "fsspec-async", "fsspec-chain", "pyarrow-filesystem"),
    *("obstore-store", "opendal-operator", "readers"),
)
#: Mutants that nothing but their own clause shows, whatever way the suite looks at them.
PRECISE = {
    "BuildLooks",
    "CapabilityByCase",
    "ChecksWhenSet",
    "CloseKeeps",
    "ClosesOnce",
    "FileReadsHalf",
    "FirstLengthStays",
    "FullyCut",
    "LooksInSpiteOfStatus",
    "NegativeIsZero",
    "NoDoubles",
    "NoMixture",
    "NumberFormat",
    "OwnAllocator",
    "PreadEndForNothing",
    "SeeksWhenClosed",
    "SharedScratch",
    "SplitIsFile",
    "StatusInBlocks",
    "StatusNeeded",
    "UnbufferKeeps",
    "ZerosBeyond",
}


#: Clauses whose check follows all programs, and finds a mutant after few of them, too.
_CHECKED_LAST = {"close.release"}


@pytest.mark.parametrize("mutant", sampled(12, MUTANTS), ids=str)
def test_suite_names_the_clause_that_a_mutant_breaks(
    mutant: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told to look for one clause, the suite finds the mutant that breaks it.

    If the clause is binding, it does so at quick. Statistics are left out unless the clause needs
    them: with them, there are only more programs.
    """
    if mutant.clause in _CHECKED_LAST:
        run_few(monkeypatch)
    clause = clauses()[mutant.clause]
    efforts = mutant.kind.efforts if clause.level is Level.SHOULD else ("quick",)
    counted = "supports-io-statistics" in clause.needs
    found = any(mutant.clause in mutant.broken(e, statistics=counted) for e in efforts)
    assert found, f"{mutant}: {mutant.says}"


#: Some mutants of binding clauses that need no statistics.
_COUNTED = [
    mutant
    for mutant in MUTANTS
    if clauses()[mutant.clause].level is not Level.SHOULD
    and mutant.clause not in _CHECKED_LAST
    and "supports-io-statistics" not in clauses()[mutant.clause].needs
][::40]


@pytest.mark.parametrize("mutant", _COUNTED, ids=str)
def test_statistics_hide_no_mutant(mutant: Mutant) -> None:
    """A target that has statistics gets at least the programs of one without."""
    assert mutant.clause in mutant.broken("quick")


def test_every_testable_clause_has_a_mutant_and_every_mutant_a_testable_clause() -> None:
    """A clause without a mutant may have a check that never fails."""
    assert {m.clause for m in mutants()} == {c.id for c in clauses().values() if c.testable}


def test_every_mutant_says_what_it_does_wrong() -> None:
    """The one sentence is what a reader of the table has to go by."""
    assert [str(m) for m in mutants() if not m.says.endswith(".")] == []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_names_of_mutants_of_a_kind_are_unique(kind: Kind) -> None:
    """A mutant is known by its name."""
    names = [m.name for m in mutants() if m.kind is kind]
    assert names
    assert len(names) == len(set(names))


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(
    "stream",
    sampled(4, [MemoryInputStream, *VARIANTS], attrgetter("__name__")),
    ids=lambda s: s.__name__,
)
def test_correct_streams_pass_everything(stream: type[MemoryInputStream]) -> None:
    """Other features and other permitted choices are not violations."""
    features = stream.features if issubclass(stream, Variant) else ()
    profile = reference_with(*features, "!python-file")
    settings = Settings(profile, with_checks(clauses().values()))
    result = check(StreamBinding(MutantFileSystem(stream), name=stream.__name__), settings)
    broken = {c.clause.id: str(c.counterexample) for c in result.clauses if c.outcome in BROKEN}
    assert broken == {}
    assert result.conforms


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("stream", OF_RANGES, ids=lambda s: s.__name__)
def test_unusual_vectored_reads_pass(stream: type[Variant]) -> None:
    """Ranges may be read together, into parts of one buffer, and when their data is asked for."""
    judged = [c for c in with_checks(clauses().values()) if c.id.startswith("read-vectored.")]
    settings = Settings(reference_with(*stream.features, "!python-file"), tuple(judged))
    result = check(StreamBinding(MutantFileSystem(stream), name=stream.__name__), settings)
    broken = {c.clause.id: str(c.counterexample) for c in result.clauses if c.outcome in BROKEN}
    assert broken == {}
    assert result.conforms


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("filesystem", OPENINGS, ids=lambda f: f.__name__)
def test_correct_filesystems_open_files_as_they_should(
    filesystem: type[OpeningFileSystem],
) -> None:
    """Unusual behaviour that the document permits is not a violation."""
    judged = [c for c in with_checks(clauses().values()) if c.document == "openfile"]
    settings = Settings(OpenFileKind().profile(filesystem), tuple(judged))
    result = check(StreamBinding(filesystem(), name=filesystem.__name__), settings)
    broken = {c.clause.id: str(c.counterexample) for c in result.clauses if c.outcome in BROKEN}
    assert broken == {}
    assert result.conforms


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("mutant", sampled(8, (m for m in MUTANTS if m.name in PRECISE)), ids=str)
def test_suite_blames_no_other_clause(mutant: Mutant) -> None:
    """A run that looks for everything finds the mutant's clause broken, and that one alone."""
    (row,) = kill_table([mutant])
    assert row.named
    assert row.others == ()
