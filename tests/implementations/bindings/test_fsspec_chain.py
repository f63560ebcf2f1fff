"""Reads through fsspec's filesystems in front of others, and their spelling."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from fsspec.implementations.cached import (
    CachingFileSystem,
    SimpleCacheFileSystem,
    WholeFileCacheFileSystem,
)
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem

from fscontract import check
from fscontract.contract.program.filesystem_calls import (
    CHAIN_CONTENT,
    CHAIN_OPERATIONS,
    FIRST_READS,
)
from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.contract.program.program import Step
from fscontract.contract.runner.result import Verdict
from fscontract.fakes.mutants.correct_filesystem import (
    RightAsyncFilesystem,
    RightCache,
    RightExpiringCache,
    RightSimpleCache,
    RightThreadedCache,
    RightUncheckedCache,
)
from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.bindings.fsspec_chain import chain_operations, spell_chain

_FIRST = {f"fs_chain_first_{method}" for method in FIRST_READS}


def _run(filesystem: Any, op: str, *args: Any) -> Outcome:
    binding = FsspecBinding(filesystem, "", "mine")
    binding.prepare()
    return binding.bind(Step(op, args))(binding.open(binding.create(b"abc")))


@pytest.mark.parametrize("change", ["same size", "longer", "shorter"])
def test_bytes_after_a_change_are_old_or_new(change: str) -> None:
    assert _run(RightCache(), "fs_chain_checked", change).value == "new"
    assert _run(RightUncheckedCache(), "fs_chain_unchecked", change).value == "old"


@pytest.mark.parametrize("change", ["same size", "longer", "shorter"])
def test_cache_whose_copies_expire_reads_old_bytes_before_and_new_ones_after(change: str) -> None:
    assert _run(RightExpiringCache(), "fs_chain_unchecked", change).value == "old"
    assert _run(RightExpiringCache(), "fs_chain_expired", change).value == "new"


def test_clock_is_put_back_when_a_cache_fails() -> None:
    class Fails(RightExpiringCache):
        def age(self, name: str) -> int:
            if self.now() - self.times[name] > self.expiry:
                raise OSError("expired")
            return 0

    before = time.time, time.time_ns
    assert _run(Fails(), "fs_chain_expired", "longer").kind is Kind.IO
    assert (time.time, time.time_ns) == before


def test_times_that_a_cache_notes_are_put_back(tmp_path: Path) -> None:
    cache = WholeFileCacheFileSystem(fs=LocalFileSystem(), expiry_time=10_000)
    binding = FsspecBinding(cache, str(tmp_path), "cache")
    binding.prepare()
    opened = binding.open(binding.create(b"abc"))
    assert binding.bind(Step("fs_chain_expired", ("longer",)))(opened).value == "new"
    opened.file.close()
    assert cache.last_cache <= time.time()


def test_cache_with_another_clock_is_not_accused() -> None:
    class Monotonic(RightExpiringCache):
        def now(self) -> int:
            return int(time.monotonic())

    outcome = _run(Monotonic(), "fs_chain_expired", "longer")
    assert outcome.kind is Kind.INEXPRESSIBLE


def test_copies_of_an_asynchronous_filesystem_are_not_made_to_expire() -> None:
    cache = RightExpiringCache()
    assert "fs_chain_expired" in chain_operations(cache)
    cache.fs = RightAsyncFilesystem()
    assert "fs_chain_expired" not in chain_operations(cache)


@pytest.mark.parametrize(("check_files", "seconds"), [(False, 60), (True, 60), (False, 0.5)])
def test_file_cache_satisfies_the_clause_of_expired_copies(
    check_files: bool, seconds: float, tmp_path: Path
) -> None:
    cache = WholeFileCacheFileSystem(
        fs=LocalFileSystem(), check_files=check_files, expiry_time=seconds
    )
    result = check(FsspecBinding(cache, str(tmp_path), "cache"), clauses=["chain.expired"])
    (clause,) = result.clauses
    assert clause.outcome is Verdict.PASS
    assert clause.exercised >= 3  # each change, though all are made to one file


def test_cache_whose_copies_never_expire_has_no_such_clause(tmp_path: Path) -> None:
    cache = WholeFileCacheFileSystem(fs=LocalFileSystem(), expiry_time=False)
    assert chain_operations(cache) - _FIRST == {"fs_chain_unchecked", "fs_chain_cache_threads"}


@pytest.mark.parametrize("method", FIRST_READS)
def test_each_method_reads_a_file_that_was_never_read(method: str) -> None:
    assert _run(RightUncheckedCache(), f"fs_chain_first_{method}").value == CHAIN_CONTENT


@pytest.mark.parametrize("kind", [WholeFileCacheFileSystem, SimpleCacheFileSystem])
def test_file_caches_of_fsspec_read_files_that_were_never_read(kind: Any, tmp_path: Path) -> None:
    cache = kind(fs=LocalFileSystem(), cache_storage=str(tmp_path / "storage"))
    binding = FsspecBinding(cache, str(tmp_path), "cache")
    binding.prepare()
    path = SimpleNamespace(path=binding.create(b"abc"))
    outcomes = [binding.bind(Step(f"fs_chain_first_{m}"))(path) for m in FIRST_READS]
    assert [outcome.value for outcome in outcomes] == [CHAIN_CONTENT] * len(FIRST_READS)


def test_cache_that_keeps_a_list_of_files_is_not_accused() -> None:
    class Listed(RightUncheckedCache):
        def content(self, path: str) -> bytes:
            if path.endswith(".below"):
                raise FileNotFoundError(path)  # written after the list was made
            return super().content(path)

    outcome = _run(Listed(), "fs_chain_first_cat")
    assert outcome.kind is Kind.INEXPRESSIBLE


def test_deleted_file_is_an_outcome() -> None:
    assert _run(RightCache(), "fs_chain_deleted").kind is Kind.NOT_FOUND


def test_operations_follow_from_the_kind_of_the_filesystem() -> None:
    threads = {"fs_chain_cache_threads"}
    checked = {"fs_chain_checked", "fs_chain_deleted"}
    assert chain_operations(RightCache()) == _FIRST | checked | threads
    assert chain_operations(RightUncheckedCache()) == _FIRST | {"fs_chain_unchecked"} | threads
    directory = DirFileSystem("d", MemoryFileSystem(skip_instance_cache=True))
    assert chain_operations(directory) == {"fs_chain_directory"}
    assert chain_operations(directory.fs) == frozenset()


def test_directory_filesystem_satisfies_its_clause(tmp_path: Path) -> None:
    target = FsspecBinding(DirFileSystem(str(tmp_path), LocalFileSystem()), "", "dir")
    result = check(target, clauses=["chain.directory"])
    assert {c.outcome for c in result.clauses} == {Verdict.PASS}


def test_file_cache_that_checks_satisfies_its_clauses(tmp_path: Path) -> None:
    storage = str(tmp_path / "storage")
    cache = WholeFileCacheFileSystem(fs=LocalFileSystem(), check_files=True, cache_storage=storage)
    result = check(FsspecBinding(cache, str(tmp_path), "cache"), clauses=["chain.checked"])
    assert {c.outcome for c in result.clauses} == {Verdict.PASS}


def test_cache_that_does_not_fit_the_filesystem_is_not_judged(tmp_path: Path) -> None:
    below = MemoryFileSystem(skip_instance_cache=True)
    cache = CachingFileSystem(fs=below, check_files=True, cache_storage=str(tmp_path))
    target = FsspecBinding(cache, "/chain", "cache")
    target.prepare()
    opened = type("Opened", (), {"path": target.create(b"abc")})
    outcome = target.bind(Step("fs_chain_checked", ("longer",)))(opened)
    assert outcome.kind is Kind.INEXPRESSIBLE


@pytest.mark.parametrize("op", CHAIN_OPERATIONS)
def test_call_is_spelled_with_the_filesystem_behind(op: str) -> None:
    args = ("longer",) if CHAIN_OPERATIONS[op] else ()
    call = spell_chain(Step(op, args))
    assert call is not None
    assert "fs.fs." in str(call)


def test_second_thread_of_a_simple_cache_may_download_again_or_wait() -> None:
    class Waits(RightSimpleCache):
        def __init__(self) -> None:
            super().__init__()
            self.lock = threading.Lock()

        def content(self, path: str) -> bytes:
            with self.lock:
                return super().content(path)

    for cache in (RightSimpleCache(), Waits()):
        assert _run(cache, "fs_chain_threads").value == CHAIN_CONTENT


def test_second_thread_that_reads_a_part_of_the_copy_is_found() -> None:
    class Shared(RightSimpleCache):
        def download(self, name: str) -> bytes:
            copy = Path(self.directory, name.replace("/", "-"))
            if not copy.exists():
                self.fs.get_file(name, str(copy))
            return copy.read_bytes()

    assert _run(Shared(), "fs_chain_threads").value == CHAIN_CONTENT[:4]


def test_simple_cache_that_copies_otherwise_is_not_judged() -> None:
    class Otherwise(RightSimpleCache):
        def download(self, name: str) -> bytes:
            return bytes(self.fs.cat_file(name))

    assert _run(Otherwise(), "fs_chain_threads").kind is Kind.INEXPRESSIBLE


def test_guarantee_for_threads_is_that_of_simplecache_alone() -> None:
    simple, other = chain_operations(RightSimpleCache()), chain_operations(RightThreadedCache())
    assert simple ^ other == {"fs_chain_threads", "fs_chain_cache_threads"}
    assert "fs_chain_threads" in simple


def test_second_thread_of_filecache_reads_a_part_of_the_copy(tmp_path: Path) -> None:
    """F53."""
    cache = WholeFileCacheFileSystem(fs=LocalFileSystem(), cache_storage=str(tmp_path / "storage"))
    result = check(FsspecBinding(cache, str(tmp_path), "cache"), clauses=["chain.threads"])
    assert [clause.outcome for clause in result.clauses] == [Verdict.LAX]


def test_second_thread_of_a_cache_that_reads_ranges_is_judged() -> None:
    class Ranges(RightThreadedCache):
        def download(self, name: str) -> bytes:
            (data,) = self.fs.cat_ranges([name], [0], [len(CHAIN_CONTENT)])
            return bytes(data)

    class Early(Ranges):
        def download(self, name: str) -> bytes:
            if name in self.begun:
                return b"\0" * len(CHAIN_CONTENT)
            self.begun.add(name)
            return super().download(name)

        begun: ClassVar[set[str]] = set()

    assert _run(Ranges(), "fs_chain_cache_threads").value == CHAIN_CONTENT
    assert _run(Early(), "fs_chain_cache_threads").value == bytes(len(CHAIN_CONTENT))
