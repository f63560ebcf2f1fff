"""Coroutines of fsspec's asynchronous filesystems, and their spelling."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
from fsspec.implementations.memory import MemoryFileSystem

from fscontract import check
from fscontract.contract.generate.filesystem_calls import programs
from fscontract.contract.program.filesystem_calls import ASYNC_OPERATIONS
from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.contract.program.program import Step
from fscontract.contract.runner.result import Verdict
from fscontract.fakes.mutants.correct_filesystem import RightAsyncFile, RightAsyncFilesystem
from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.bindings.fsspec_async import AsyncTwin, spell_async

_DATA = b"abcdef"


def _run(filesystem: Any, op: str, *args: Any) -> Outcome:
    binding = FsspecBinding(filesystem, "", "mine")
    binding.prepare()
    try:
        return binding.bind(Step(op, args))(binding.open(binding.create(_DATA)))
    finally:
        binding.dispose()


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (("fs_async_cat_file", -2, None), b"ef"),
        (("fs_async_cat_ranges", ("file", "missing"), 0, (1, 2), "return"), (b"a", True)),
        (("fs_async_cat", ("file", "missing"), "omit"), (("file", _DATA),)),
        (("fs_async_info", "name"), True),
        (("fs_async_read", 4), _DATA),
        (("fs_async_read", None), _DATA),
        (("fs_async_seek", 4), b"ef"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_each_coroutine_has_its_value(call: tuple[Any, ...], value: Any) -> None:
    outcome = _run(RightAsyncFilesystem(files={}), *call)
    assert (outcome.kind, outcome.value) == (Kind.RETURNED, value)


def test_exceptions_of_coroutines_are_outcomes() -> None:
    filesystem = RightAsyncFilesystem(files={})
    assert _run(filesystem, "fs_async_cat_missing").kind is Kind.NOT_FOUND
    assert _run(filesystem, "fs_async_closed").kind is Kind.ILLEGAL_ARGUMENT


def test_filesystem_without_coroutines_has_no_such_operations() -> None:
    binding = FsspecBinding(MemoryFileSystem(skip_instance_cache=True), "", "mine")
    assert not binding.operations & ASYNC_OPERATIONS.keys()
    result = check(MemoryFileSystem(skip_instance_cache=True), clauses=["fsspec-async"])
    assert {c.outcome for c in result.clauses} == {Verdict.INEXPRESSIBLE}


def test_right_filesystem_satisfies_every_clause() -> None:
    result = check(RightAsyncFilesystem(files={}), clauses=["fsspec-async"])
    assert {c.outcome for c in result.clauses} == {Verdict.PASS}


def test_wrapper_around_a_filesystem_satisfies_all_but_what_it_lacks() -> None:
    target = AsyncFileSystemWrapper(MemoryFileSystem(skip_instance_cache=True), asynchronous=False)
    result = check(target, clauses=["fsspec-async"])
    lacks = {c.clause.id for c in result.clauses if c.outcome is Verdict.INEXPRESSIBLE}
    assert lacks == {"async.open.data", "async.open.seek", "async.open.closed"}
    assert {c.outcome for c in result.clauses if c.clause.id not in lacks} == {Verdict.PASS}


def test_stream_that_is_not_seekable_satisfies_the_clauses() -> None:
    class Forward(RightAsyncFile):
        def seek(self, at: int, whence: int = 0) -> int:
            raise ValueError("can't seek")

        async def read(self, length: int = -1) -> bytes:
            return await super().read(min(length, 2) if length > 0 else length)

    class Forwards(RightAsyncFilesystem):
        async def open_async(self, path: str, mode: str = "rb", **options: Any) -> Forward:
            return Forward(self.content(path))

    result = check(Forwards(files={}), clauses=["async.open"])
    assert {c.outcome for c in result.clauses} == {Verdict.PASS}


def test_twin_is_asynchronous_and_keeps_one_loop() -> None:
    seen = []

    async def look(fs: Any) -> bool:
        seen.append((fs, asyncio.get_running_loop()))
        return bool(fs.asynchronous)

    filesystem = RightAsyncFilesystem(files={"file": b""})
    twin = AsyncTwin(filesystem)
    assert [twin.run(look, "file"), twin.run(look, "file")] == [True, True]
    twin.close()
    assert seen[0] == seen[1]
    assert seen[0][0] is not filesystem
    assert seen[0][1].is_closed()


def test_twin_takes_another_loop_while_a_call_hangs() -> None:
    twin = AsyncTwin(RightAsyncFilesystem(files={"file": b""}))
    twin._loop = hanging = asyncio.new_event_loop()
    found: list[Any] = []

    async def inside() -> None:
        def other_thread() -> None:
            found.append(twin.run(_loop, "file"))

        await asyncio.to_thread(other_thread)

    async def _loop(_: Any) -> Any:
        return asyncio.get_running_loop()

    hanging.run_until_complete(inside())
    hanging.close()
    twin.close()
    assert found[0] is not hanging


def test_filesystem_without_asynchronous_instances_has_no_such_calls() -> None:
    class Waiting(RightAsyncFilesystem):
        def __init__(self, files: dict[str, bytes] | None = None, **options: Any) -> None:
            super().__init__(files, **options)
            if self.asynchronous:
                raise RuntimeError("Loop is not running")

    result = check(Waiting(files={}), clauses=["fsspec-async"])
    assert {c.outcome for c in result.clauses} == {Verdict.INEXPRESSIBLE}


def test_filesystem_whose_instances_have_other_files_has_no_such_calls() -> None:
    result = check(RightAsyncFilesystem(), clauses=["fsspec-async"])
    assert {c.outcome for c in result.clauses} == {Verdict.INEXPRESSIBLE}


def test_every_program_is_spelled_as_an_awaited_call() -> None:
    binding = FsspecBinding(RightAsyncFilesystem(files={}), "", "mine")
    for program in programs(frozenset(ASYNC_OPERATIONS)):
        text = binding.spell(program)
        assert "await fs." in text
        assert "fs.cat" not in text


def test_script_reads_a_stream_in_a_function() -> None:
    call = spell_async(Step("fs_async_seek", (2,)))
    assert call is not None
    assert call.before[2:] == (
        "async def read():",
        "    stream = await twin.open_async(path)",
        "    stream.seek(2)",
        "    return await stream.read()",
    )
    shown = "stream = await fs.open_async(path); stream.seek(2); await stream.read()"
    assert str(call) == shown
