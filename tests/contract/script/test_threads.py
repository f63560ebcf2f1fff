"""Scripts of several threads that share a stream."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.concurrency.schedule import Schedule
from fscontract.contract.program.program import Program
from fscontract.contract.script.calls import NoScript, Source
from fscontract.contract.script.failure import Failure, failure_of_threads
from fscontract.contract.script.languages import python_script
from fscontract.contract.spec.profiles import load_profile
from fscontract.contract.targets import resolve_target
from tests.contract.script.formatting import is_formatted
from tests.script_runner import ScriptRunner

_OWN = "tests.contract.script.mutant_filesystems:"
#: Threads that fail on fsspec's files in memory, and do not on local ones.
_THREADS: dict[str, list[Any]] = {
    "pread.isolation": [
        [["seek", 9], ["read_into", 5, 0, 5]],
        [["read_fully", 20, 6, 1, 4]],
    ],
    "pread.serializable": [[["read_fully", 20, 6, 1, 4]], [["seek", 9]]],
    "read-vectored.concurrent": [
        [["read_fully", 20, 6, 1, 4]],
        [["read_byte"]],
        [["read_vectored", [[4, 5]], "heap", "absent"]],
    ],
}


def _script(
    target: str,
    clause: str,
    threads: list[Any],
    switches: list[list[int]] | None = None,
    options: dict[str, str] | None = None,
    streams: str = "one",
) -> str:
    """Return the script of threads; without switches they run freely."""
    binding = resolve_target(target, options or {})
    mode = "free" if switches is None else "controlled"
    data = {"length": 48, "threads": threads, "switches": switches or [], "mode": mode}
    data["streams"] = streams
    features = load_profile(binding.default_profile).as_observed({}).features
    alone = Failure(clause, Program(48, ()), features, 4096, {})
    failure = failure_of_threads(alone, Schedule.from_json(data))
    return python_script(binding, Source(target, options or {}), failure)


@pytest.mark.parametrize("clause", _THREADS)
def test_script_of_a_switch_fails_on_the_bug_and_passes_without_it(
    clause: str, bare_scripts: ScriptRunner
) -> None:
    threads = _THREADS[clause]
    script = _script("memory://threads", clause, threads, [[0, 0, 9, 1]])
    assert is_formatted(script)
    broken = bare_scripts.run(script)
    assert broken.code == 1, broken.output
    assert "actual:    [" in broken.output
    right = bare_scripts.run(_script("file:///tmp", clause, threads, [[0, 0, 9, 1]]))
    assert right.code == 0, right.output


def test_thread_that_was_paused_is_the_first_one() -> None:
    threads = _THREADS["pread.serializable"][::-1]
    script = _script("memory://threads", "pread.serializable", threads, [[1, 0, 9, 0]])
    first = script[script.index("def thread1()") : script.index("def thread2()")]
    assert "fs.read_block(path, 20, 4)" in first


def test_streams_under_a_lock_pass(own_scripts: ScriptRunner) -> None:
    """They make other threads wait, which the script must not take for a failure."""
    target, threads = f"{_OWN}locked", [[["pread", 6, 4, 0, 4]], [["seek", 9], ["read_byte"]]]
    script = _script(target, "pread.isolation", threads, [[0, 0, 3, 1]])
    ran = own_scripts.run(script.replace("], 0.05)", "], 0.01)"))
    assert ran.code == 0, ran.output


def test_free_threads_start_at_a_barrier(own_scripts: ScriptRunner) -> None:
    threads = [[["pread", 6, 8, 0, 8]], [["pread", 30, 8, 0, 8]]]
    script = _script("memory", "model.pread-thread-safe", threads)
    assert is_formatted(script)
    assert "with ThreadPoolExecutor(2, initializer=Barrier(2).wait) as pool:" in script
    right = own_scripts.run(script.replace("range(1000)", "range(50)"))
    assert right.code == 0, right.output
    assert "actual:    [None, None]" in right.output


@pytest.mark.parametrize(
    ("name", "threads", "switches"),
    [
        (
            "pread.isolation-SeekReadSeek",
            [[["pread", 6, 8, 0, 8]] * 3, [["seek", 9], ["read_byte"]] * 2],
            None,
        ),
        (
            "model.pread-thread-safe-OneConnection",
            [[["pread", 6, 8, 0, 8], ["pread", 16, 6, 0, 6]], [["pread", 30, 7, 0, 7]]],
            None,
        ),
        (
            "pread.buffers-SharedScratch",
            [[["pread", 6, 8, 0, 8]], [["pread", 30, 7, 0, 7]]],
            [[0, 0, 1, 1]],
        ),
    ],
    ids=["different calls", "several places", "paused"],
)
def test_threads_that_disturb_each_other_fail_and_others_pass(
    name: str, threads: list[Any], switches: list[list[int]] | None, own_scripts: ScriptRunner
) -> None:
    script = _script(f"{_OWN}make", "pread.isolation", threads, switches, {"name": name})
    assert is_formatted(script)
    broken = own_scripts.run(script)
    assert broken.code == 1, broken.output
    right = own_scripts.run(
        script.replace(f'name="{name}"', 'name=""').replace("range(1000)", "range(20)")
    )
    assert right.code == 0, right.output


@pytest.mark.parametrize("switches", [None, [[0, 0, 2, 1]]], ids=["free", "paused"])
def test_threads_that_each_have_a_stream_fail_if_these_disturb_each_other(
    switches: list[list[int]] | None, own_scripts: ScriptRunner
) -> None:
    name = "open.independent-OneCursor"
    threads = [[["read_byte"]], [["seek", 9], ["read_byte"]]]
    script = _script(f"{_OWN}make", "open.independent", threads, switches, {"name": name}, "each")
    assert is_formatted(script)
    assert script.count("fs.open(") == 2
    broken = own_scripts.run(script)
    assert broken.code == 1, broken.output
    right = own_scripts.run(
        script.replace(f'name="{name}"', 'name=""').replace("range(1000)", "range(20)")
    )
    assert right.code == 0, right.output


_READS: list[Any] = [["read_fully", 20, 6, 1, 4], ["read_fully", 3, 6, 1, 5]]


@pytest.mark.parametrize("switches", [None, [[0, 0, 1, 1]]], ids=["free", "paused"])
@pytest.mark.parametrize("target", ["memory://threads", "file:///tmp", "memory"])
@pytest.mark.parametrize("count", [2, 3])
def test_threads_that_read_at_several_places_have_one_function_and_40_lines(
    count: int, target: str, switches: list[list[int]] | None
) -> None:
    threads = [_READS, _READS[:1], _READS[::-1]][:count]
    script = _script(target, "model.pread-thread-safe", threads, switches)
    assert is_formatted(script)
    assert len(script.splitlines()) <= 40
    assert script.count("def thread") == 1
    assert "\nREADS = [[(20, 24, 4), (3, 8, 5)], [(20, 24, 4)]" in script


@pytest.mark.parametrize("switches", [None, [[0, 0, 1, 1]]], ids=["free", "paused"])
@pytest.mark.parametrize("count", [2, 3])
def test_threads_of_different_calls_have_40_lines(
    count: int, switches: list[list[int]] | None
) -> None:
    threads = [[["seek", 9], ["read_byte"]], _READS[:1], _READS[1:]][:count]
    script = _script("file:///tmp", "pread.isolation", threads, switches)
    assert is_formatted(script)
    assert 36 <= len(script.splitlines()) <= 40
    longer = [threads[0], [["pread", at, 9, 0, 9] for at in range(8)], *threads[2:]]
    with pytest.raises(NoScript, match="more than 40"):
        _script("file:///tmp", "pread.isolation", longer, switches)


@pytest.mark.parametrize("switches", [None, [[0, 0, 1, 1]]], ids=["free", "paused"])
def test_script_of_threads_imports_what_their_calls_need(
    switches: list[list[int]] | None, own_scripts: ScriptRunner
) -> None:
    """Without the import of FileRange each thread would fail, also on a right filesystem."""
    threads = [[["read_vectored", [[at, 5]], "heap", "absent"]] for at in (4, 20)]
    script = _script("memory", "read-vectored.multiple", threads, switches)
    assert is_formatted(script)
    right = own_scripts.run(script.replace("range(1000)", "range(20)"))
    assert right.code == 0, right.output


@pytest.mark.parametrize(
    ("clause", "threads", "switches", "reason"),
    [
        (
            "pread.concurrent",
            [[["pread", 6, 8, 0, 8]], [["pread", 30, 8, 0, 8]]],
            [[0, 0, 1, 1]],
            "a thread has to be paused in the middle of its call",
        ),
        (
            "pread.isolation",
            [[["pread", 6, 8, 0, 8]], [["read_byte"]]],
            [[0, 0, 1, 1], [1, 0, 1, 0]],
            "the threads have to be switched 2 times",
        ),
        (
            "pread.isolation",
            [[["seek", 6], ["read_byte"]], [["read_byte"]]],
            [[0, 0, 1, 1]],
            "several threads move the stream",
        ),
    ],
)
def test_threads_without_a_script_say_why(
    clause: str, threads: list[Any], switches: list[list[int]], reason: str
) -> None:
    with pytest.raises(NoScript, match=reason):
        _script("memory://threads", clause, threads, switches)
