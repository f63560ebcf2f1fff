"""Tests that mutants over Hadoop's streams are rejected like all others."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import pytest

from fscontract.contract.runner.result import Verdict
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings, with_checks
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.spec.profiles import load_profile
from fscontract.contract.targets import resolve_target
from fscontract.fakes.mutants.correct_parts import MutantFileSystem
from fscontract.fakes.mutants.hadoop import Beneath, over_hadoop
from fscontract.fakes.mutants.kinds import BROKEN
from fscontract.fakes.mutants.registry import Mutant, mutants
from fscontract.implementations.bindings.hadoop.binding import HadoopBinding
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.memory import MemoryInputStream

#: Clauses that RawLocalFileSystem violates: findings H1, H3, H4 and H5.
OWN = {
    "new-source.none": Verdict.FAIL,
    "pread.eof": Verdict.FAIL,
    "pread.closed": Verdict.LAX,
    "read-fully.eof": Verdict.FAIL,
    "read-fully.closed": Verdict.LAX,
    "skip.count": Verdict.LAX,
    "skip.closed": Verdict.LAX,
}
#: Mutants whose bug is in Python state, which the stream below does not see.
BESIDE = {"GivesItsReadAhead", "OtherReplica", "Reopens", "SharesPosition"}
#: Clauses whose mutants change what Python keeps beside the stream, or how Python opens it.
APART = ("unbuffer.", "open.", "close.release")
PROFILE = load_profile("hadoop-raw").with_features(("!python-file",))
STREAMS = tuple(c for c in with_checks(clauses().values()) if c.document == "fsdatainputstream")


def _mutants() -> list[Mutant]:
    """Return the mutants of stream clauses that Hadoop declares and satisfies."""
    names = {c.id for c in STREAMS} - OWN.keys()
    return [
        m
        for m in mutants("fsdatainputstream")
        if m.clause in names
        and m.name not in BESIDE
        and not m.clause.startswith(APART)
        and not PROFILE.with_features(m.features).satisfies(clauses()[m.clause].needs)
    ]


@pytest.fixture(scope="module")
def beneath(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Beneath]:
    """Files of RawLocalFileSystem."""
    folder: Path = tmp_path_factory.mktemp(f"raw-{uuid.uuid4().hex[:8]}")
    binding = resolve_target(f"hadoop+raw://{folder}", {})
    assert isinstance(binding, HadoopBinding)
    binding.prepare()
    yield Beneath(binding)
    binding.dispose()


def _verdict(mutated: Mutant, beneath: Beneath) -> Verdict:
    filesystem, stream = MutantFileSystem, mutated.part
    if issubclass(mutated.part, MutantFileSystem):
        filesystem, stream = mutated.part, MemoryInputStream
    profile = PROFILE.with_features(mutated.features)
    settings = Settings(profile, (clauses()[mutated.clause],), stop_at_first=True)
    binding = StreamBinding(filesystem(over_hadoop(stream, beneath)), name=str(mutated))
    return check(binding, settings).clauses[0].outcome


@pytest.mark.deep
def test_unmodified_stream_violates_only_hadoops_clauses(beneath: Beneath) -> None:
    """And no more, so that a mutant's verdict is its own."""
    filesystem = MutantFileSystem(over_hadoop(MemoryInputStream, beneath))
    judged = tuple(c for c in STREAMS if c.id.startswith(("read-fully.", "skip.", "new-source.")))
    result = check(StreamBinding(filesystem, name="over Hadoop"), Settings(PROFILE, judged))
    assert {c.clause.id: c.outcome for c in result.clauses if c.outcome in BROKEN} == {
        clause.id: OWN[clause.id] for clause in judged if clause.id in OWN
    }


def _sample() -> list[Mutant]:
    """Return some mutants, which stay the same when others are added."""
    return [
        m
        for m in _mutants()
        if crc32(str(m).encode()) % 12 == 0 and not m.clause.startswith("consistency.")
    ]


@pytest.mark.parametrize("mutated", _sample(), ids=str)
def test_a_mutant_over_hadoop_is_rejected(mutated: Mutant, beneath: Beneath) -> None:
    """A sample; the next test covers all."""
    assert _verdict(mutated, beneath) in BROKEN, mutated.says


@pytest.mark.deep
@pytest.mark.parametrize("mutated", _mutants(), ids=str)
def test_each_mutant_over_hadoop_is_rejected(mutated: Mutant, beneath: Beneath) -> None:
    """By the broken clause, if Hadoop declares it."""
    assert _verdict(mutated, beneath) in BROKEN, mutated.says
