"""Leaks are distinguished from pools."""

from __future__ import annotations

import os
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from fscontract import PythonFileBinding, check
from fscontract.contract import clock
from fscontract.contract.api.openfile_options import BUFFER_SIZE
from fscontract.contract.models.openfile_stages import READ_OPERATIONS
from fscontract.contract.program.program import OPERATIONS
from fscontract.contract.runner import resource_checks
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.resource_checks import Round, check_growth, describe_growth
from fscontract.contract.runner.result import Verdict
from fscontract.contract.runner.runner import check as run_clauses
from fscontract.contract.spec.known_failures import Known
from fscontract.fakes.mutants.correct_parts import MutantFileSystem
from fscontract.fakes.mutants.registry import Mutant, mutants
from fscontract.fakes.mutants.stream import leaks
from fscontract.fakes.mutants.stream.variants import HoldsDescriptor
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from fscontract.implementations.openfile_builder import OpenOptions
from tests.contract.runner.conftest import MakeExecutor, binding_of, settings_for
from tests.few_programs import run_few


@pytest.mark.parametrize("op", sorted(READ_OPERATIONS))
def test_a_stream_that_is_held_was_read_in_every_way(op: str) -> None:
    programs = resource_checks.held_programs(frozenset(OPERATIONS))
    assert any(step.op == op for program in programs for step in program.steps)


def test_a_descriptor_that_stays_each_time_is_a_leak() -> None:
    left: list[int] = []
    try:
        assert (
            resource_checks.grows(lambda: left.append(os.open(os.devnull, os.O_RDONLY)))
            == "a descriptor"
        )
    finally:
        for descriptor in left:
            os.close(descriptor)


def test_a_thread_that_stays_each_time_is_a_leak() -> None:
    done = threading.Event()

    def start() -> None:
        threading.Thread(target=done.wait, daemon=True).start()

    try:
        assert resource_checks.grows(start) == "a thread"
    finally:
        done.set()


def test_threads_that_end_a_little_later_are_no_leak() -> None:
    ending = threading.Event()

    def start() -> None:
        threading.Thread(target=ending.wait, args=(0.1,), daemon=True).start()

    assert resource_checks.grows(start) == ""


def test_what_is_made_once_and_kept_is_no_leak() -> None:
    kept: list[int] = []

    def once() -> None:
        if not kept:
            kept.append(os.open(os.devnull, os.O_RDONLY))

    try:
        assert resource_checks.grows(once) == ""
    finally:
        os.close(kept[0])


def test_connections_of_many_requests_at_the_same_time_are_no_leak() -> None:
    """As of a client that reads 33 ranges at the same time, and keeps up to 20 connections."""
    kept: list[int] = []

    def read() -> None:
        more = range(len(kept), min(len(kept) + 12, 20))
        kept.extend(os.open(os.devnull, os.O_RDONLY) for _ in more)

    try:
        assert resource_checks.grows(read) == ""
    finally:
        for descriptor in kept:
            os.close(descriptor)


@pytest.mark.parametrize("count", [1, 3])
def test_a_glance_sees_that_descriptors_are_open(count: int) -> None:
    before = resource_checks.glance()
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(count)]
    try:
        assert resource_checks.glance().descriptor > before.descriptor
    finally:
        for descriptor in opened:
            os.close(descriptor)


@pytest.mark.skipif(not resource_checks._counted(), reason="this kernel counts no descriptors")
def test_a_glance_sees_descriptors_that_were_opened_after_one_that_is_closed() -> None:
    """As a library does that opens a file and its index, and closes the file alone."""
    left = []
    try:
        seen = [resource_checks.glance().descriptor]
        for _ in range(2):
            file = os.open(os.devnull, os.O_RDONLY)
            left.append(os.open(os.devnull, os.O_RDONLY))
            os.close(file)
            seen.append(resource_checks.glance().descriptor)
        assert seen == [seen[0], seen[0] + 1, seen[0] + 2]
    finally:
        for descriptor in left:
            os.close(descriptor)


@pytest.mark.parametrize(
    ("allowed", "most"), [(256, 400), (1024, 512), (1 << 20, 8000), (resource.RLIM_INFINITY, 8000)]
)
def test_a_target_may_leak_half_of_what_the_process_may_have(
    allowed: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a long run completes."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (allowed, allowed))
    assert resource_checks.most_descriptors() == most


@pytest.mark.parametrize(
    ("of_user", "of_container", "most"),
    [
        (1000, "max", 400),
        (8000, "max", 2000),
        (8000, "4000", 1000),
        (resource.RLIM_INFINITY, "max", 4000),
    ],
)
def test_threads_may_leak_up_to_a_quarter_of_what_may_start(
    of_user: int, of_container: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = tmp_path / "pids.max"
    limit.write_text(of_container)
    monkeypatch.setattr(resource_checks, "_CONTAINER_THREADS", limit)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (of_user, of_user))
    assert resource_checks.most_threads() == most


@pytest.mark.parametrize("count", [3, 4])
def test_a_target_that_leaks_too_many_is_left(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the lowest free descriptor, which jumps over those that are held for something else."""
    held = [resource_checks.Held(10, 1)]
    monkeypatch.setattr(resource_checks, "most_descriptors", lambda: 3)
    monkeypatch.setattr(resource_checks, "glance", lambda: held[0])
    watch = resource_checks.LeakWatch()
    held[0] = resource_checks.Held(10 + count, 1)
    watch.left(lambda: None, lambda: None, known=resource_checks.LEAKED)
    assert watch.too_many == ("descriptors" if count > 3 else "")


def test_known_leaks_of_threads_hide_no_leak_of_descriptors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left = 0

    def again() -> None:
        nonlocal left
        left += 1

    for look in ("glance", "count"):
        monkeypatch.setattr(resource_checks, look, lambda: resource_checks.Held(9 + left, 1 + left))
    watch = resource_checks.LeakWatch()
    again()
    assert watch.left(again, lambda: None, known=resource_checks.LEAKED) == ""
    assert watch.left(again, lambda: None, known={"a thread"}) == "a descriptor"


def _module(mutant: Mutant) -> str:
    """Return the module that defines a mutant."""
    function, _ = vars(mutant.part).get("mutated", (mutant.part, None))
    return str(function.__module__)


def _always(calls: int) -> bool:
    return True


def _never(calls: int) -> bool:
    return False


@contextmanager
def _prepared(binding: StreamBinding) -> Iterator[Executor]:
    """Yield an executor of a binding that is set up, and dispose of it."""
    binding.prepare()
    try:
        yield Executor(binding, frozenset(), binding.buffer)
    finally:
        binding.dispose()


def _left(stream: type[MemoryInputStream]) -> str:
    """Return what a closed stream of a class leaves while it is held."""
    with _prepared(StreamBinding(MutantFileSystem(stream), "held")) as executor:
        programs = resource_checks.held_programs(executor.binding.operations)
        found = (resource_checks.check_held(executor, one, _always)[1] for one in programs)
        return next((one.actual for one in found if one is not None), "")


def test_what_a_closed_stream_holds_shows_while_it_is_referenced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its collection would close it, and without references nothing would be left to see."""
    monkeypatch.setattr(resource_checks, "_ENDING", 0.02)  # no thread of a mutant ends
    parts = [m.part for m in mutants("fsdatainputstream") if _module(m) == leaks.__name__]
    assert parts
    assert all("while the closed stream is referenced" in _left(part) for part in parts)


def test_a_closed_stream_that_gives_back_its_descriptor_holds_nothing() -> None:
    assert _left(HoldsDescriptor) == ""


def test_a_stream_without_close_is_not_a_closed_one_that_holds_something() -> None:
    class Unclosable(HoldsDescriptor):
        @property
        def close(self) -> Any:
            raise AttributeError("'Unclosable' object has no attribute 'close'")

    assert _left(Unclosable) == ""


def test_what_all_streams_share_is_no_leak() -> None:
    """A pool is opened once, by the first stream."""
    shared: list[int] = []

    class Pooled(MemoryInputStream):
        def read_byte(self) -> int:
            if not shared:
                shared.append(os.open(os.devnull, os.O_RDONLY))
            return super().read_byte()

    try:
        assert _left(Pooled) == ""
    finally:
        os.close(shared[0])


def test_without_time_for_the_calls_no_stream_is_opened() -> None:
    class Counted(StreamBinding):
        opened = 0

        def open(self, path: str) -> Any:
            Counted.opened += 1
            return super().open(path)

    with _prepared(Counted(MemoryFileSystem(), "counted")) as executor:
        for program in resource_checks.held_programs(executor.binding.operations):
            assert resource_checks.check_held(executor, program, _never) == (0, None)
        assert resource_checks.check_unbuffer(executor, _never) == (0, None)
        assert Counted.opened == 0


def test_files_that_cannot_be_opened_leave_nothing() -> None:
    """Programs report them; a library that lacks an option raises for every file, for example."""

    class Refusing(StreamBinding):
        def open(self, path: str) -> Any:
            raise KeyError("blockcache")

    with _prepared(Refusing(MemoryFileSystem(), "refusing")) as executor:
        for program in resource_checks.held_programs(executor.binding.operations):
            assert resource_checks.check_held(executor, program, _always) == (0, None)
        assert resource_checks.check_unbuffer(executor, _always) == (0, None)


@pytest.mark.parametrize(("every", "is_frequent"), [(1, True), (1000, False)])
def test_leaks_are_frequent_if_a_whole_run_would_exceed_the_limits(
    every: int, is_frequent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = 0
    monkeypatch.setattr(resource_checks, "glance", lambda: resource_checks.Held(9 + left, 1))
    monkeypatch.setattr(resource_checks, "grows", lambda again, known: "a descriptor")
    watch = resource_checks.LeakWatch()
    for program in range(60 * every):
        left += program % every == 0
        watch.left(lambda: None, lambda: None, known=())
    assert watch.is_frequent is is_frequent


def test_a_target_that_leaks_gets_few_programs_of_every_phase(tmp_path: Path) -> None:
    """With all programs of the first phases, no descriptor would be left for the others."""
    left = []

    def leaking(path: str) -> BinaryIO:
        left.append(os.open(os.devnull, os.O_RDONLY))
        return open(path, "rb")

    binding = PythonFileBinding(leaking, str(tmp_path), "leaking")
    try:
        result = check(binding, clauses=["close.release", "python.tell"])
    finally:
        for descriptor in left:
            os.close(descriptor)
    assert len(left) < 2_000
    assert not any(name.startswith(resource_checks.OUT_OF) for name in result.counts)


class LeaksWhenSized(MemoryFileSystem):
    """Leaks a descriptor for each buffer size, and for each stream if told so."""

    def __init__(self, always: bool) -> None:
        super().__init__()
        self.always = always
        self.left: list[int] = []

    def _open(self, path: str, options: OpenOptions) -> MemoryInputStream:
        if self.always or options.buffer_size is not None:
            self.left.append(os.open(os.devnull, os.O_RDONLY))
        return super()._open(path, options)


@pytest.mark.parametrize("always", [False, True])
def test_a_leak_of_an_option_is_another_one_than_that_of_each_stream(
    always: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_few(monkeypatch)
    filesystem = LeaksWhenSized(always)
    known = Known("close.release", "as ever", f"close: left a descriptor; {BUFFER_SIZE}")
    settings = settings_for("close.release", "open.number-default", known=(known,))
    try:
        result = run_clauses(StreamBinding(filesystem, "leaking"), settings)
    finally:
        for descriptor in filesystem.left:
            os.close(descriptor)
    (found,) = (c for c in result.clauses if c.clause.id == "close.release")
    assert found.outcome is (Verdict.FAIL if always else Verdict.KNOWN)
    assert found.counterexample is not None
    signature = "close: left a descriptor" if always else known.signature
    assert found.counterexample.signature == signature


CALLS = 100


def rounds(*seconds: float, objects: int = 0, memory: int = 0) -> list[Round]:
    """Return rounds of these seconds, after each of which so much more is held."""
    return [Round(s, n * objects, n * memory) for n, s in enumerate(seconds)]


def test_calls_of_the_same_time_and_memory_do_not_grow() -> None:
    assert describe_growth(rounds(1e-6, 1e-6, 1e-6, 1e-6), CALLS) == ""


def test_calls_that_become_slower_in_every_round_grow() -> None:
    assert describe_growth(rounds(1e-5, 4e-5, 8e-5, 2e-4), CALLS) == (
        "a call takes 200 us after 400 calls on one stream, 10 us at first"
    )


def test_a_slow_round_between_fast_ones_is_no_growth() -> None:
    assert describe_growth(rounds(1e-5, 9e-4, 2e-5, 2e-4), CALLS) == ""


def test_a_few_microseconds_more_are_no_growth() -> None:
    assert describe_growth(rounds(1e-6, 2e-6, 5e-6, 9e-6), CALLS) == ""


def test_objects_that_each_call_keeps_are_counted() -> None:
    grown = rounds(1e-6, 1e-6, 1e-6, 1e-6, objects=2 * CALLS)
    assert describe_growth(grown, CALLS) == "each call on a stream keeps about 2 objects"


def test_memory_that_each_call_keeps_is_counted() -> None:
    grown = rounds(1e-6, 1e-6, 1e-6, 1e-6, memory=5_000 * CALLS)
    assert describe_growth(grown, CALLS) == "each call on a stream keeps about 5,000 bytes"


def test_a_cache_that_fills_at_first_is_no_growth() -> None:
    filling = [Round(1e-6, min(n, 2) * 9 * CALLS, 0) for n in range(6)]
    assert describe_growth(filling, CALLS) == ""


class Keeps(MemoryInputStream):
    """Each seek is kept in a list."""

    def __init__(self, data: bytes, path: str = "/memory", declared: int | None = None) -> None:
        super().__init__(data, path, declared)
        self._log: list[object] = []

    def seek(self, position: int) -> None:
        """Keep a few new objects."""
        self._log += [[position] for _ in range(9)]
        super().seek(position)


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock at which no time passes."""
    monkeypatch.setattr(clock, "monotonic", lambda: 0.0)


@pytest.mark.usefixtures("still")
def test_a_stream_that_keeps_every_seek_is_found(executor: MakeExecutor) -> None:
    assert "objects" in check_growth(executor(Keeps))


@pytest.mark.usefixtures("still")
def test_a_stream_that_keeps_nothing_does_not_grow(executor: MakeExecutor) -> None:
    assert check_growth(executor()) == ""


def test_growth_is_a_warning_of_a_run_that_conforms() -> None:
    result = run_clauses(binding_of(Keeps), settings_for("close.release"))
    assert result.conforms
    (warning,) = result.warnings
    assert warning.startswith("test: each call on a stream keeps about")
