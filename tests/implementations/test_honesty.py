"""Tests of the counters of local streams against actual system calls."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fscontract.contract.api.filesystem import FileRange, FileStatus, FSDataInputStream
from fscontract.contract.api.openfile_options import LENGTH, READ_POLICY
from fscontract.contract.program.content import content
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.local_stream import Descriptor

from .support import counted, rest_of, write

DATA = content(200_000)


OPENS = ("op_open", "op_openfile", "op_get_file_status")


class System:
    """Records the system calls on a file."""

    def __init__(self, patch: pytest.MonkeyPatch, root: str) -> None:
        self.root = root
        self.open: set[int] = set()
        self.opens = self.closes = self.looks = 0
        self.reads: list[int] = []
        self.of_paths: list[str] = []
        for name in ("open", "close", "preadv", "pread", "fstat", "stat", "lstat", "access"):
            patch.setattr(os, name, getattr(self, f"_{name}")(getattr(os, name)))

    def _open(self, true: Any) -> Any:
        def call(path: Any, *rest: Any, **more: Any) -> int:
            number: int = true(path, *rest, **more)
            if str(path).startswith(self.root) and os.path.basename(path) == "file":
                self.open.add(number)
                self.opens += 1
            return number

        return call

    def _close(self, true: Any) -> Any:
        def call(number: int) -> None:
            true(number)
            self.closes += number in self.open
            self.open.discard(number)

        return call

    def _preadv(self, true: Any) -> Any:
        def call(number: int, *rest: Any) -> Any:
            count = true(number, *rest)
            self.reads.append(count)
            return count

        return call

    def _pread(self, true: Any) -> Any:
        def call(number: int, size: int, position: int) -> Any:
            assert size == 0, "it asks for no bytes"
            return true(number, size, position)

        return call

    def _fstat(self, true: Any) -> Any:
        def call(number: int) -> Any:
            self.looks += number in self.open
            return true(number)

        return call

    def _stat(self, true: Any) -> Any:
        def call(path: Any, *rest: Any, **more: Any) -> Any:
            self.of_paths.append(str(path))
            return true(path, *rest, **more)

        return call

    _lstat = _access = _stat


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[System]:
    """Recorded system calls since the start of the test."""
    (tmp_path / "file").write_bytes(DATA)
    with monkeypatch.context() as patch:
        yield System(patch, str(tmp_path))


def act(stream: FSDataInputStream, chance: random.Random) -> int:
    """Make a random call; return the number of bytes that it returned."""
    position, size = chance.randrange(len(DATA) + 9), chance.choice([1, 7, 4096, 70_000])
    buffer = bytearray(size)
    ranges = [FileRange(position, size), FileRange(position + size, 5)]
    try:
        match chance.randrange(10):
            case 0:
                stream.unbuffer()
            case 1 | 2:
                stream.seek(position)
            case 3:
                return stream.read_byte() >= 0
            case 4 | 5:
                return max(0, stream.read_into(buffer, 0, size))
            case 6 | 7:
                return max(0, stream.pread(position, buffer, *chance.choice([(), (0, size)])))
            case 8:
                stream.read_fully(position, buffer)
                return size
            case 9:
                stream.read_vectored(ranges)
                done = [part.data for part in ranges if part.data is not None]
                return sum(len(d.result()) for d in done if d.exception() is None)
    except EOFError:
        pass
    return 0


@pytest.mark.skipif(not hasattr(os, "preadv"), reason="needs preadv")
class TestHonesty:
    @pytest.mark.parametrize("length", [None, 100_000, 200_000, 250_000])
    @pytest.mark.parametrize("policy", ["default", "whole-file", "csv", "orc"])
    @pytest.mark.parametrize("seed", [1, 2])
    def test_every_call_of_the_system_is_counted(
        self, system: System, policy: str, length: int | None, seed: int
    ) -> None:
        """Opens, closes, reads and their bytes, for random calls, and in total."""
        fs = LocalFileSystem(strategy="positioned")
        builder = fs.open_file(f"{system.root}/file").opt(READ_POLICY, policy)
        stream = builder.opt_long(LENGTH, -1 if length is None else length).build().result()
        chance = random.Random(f"{seed} {policy} {length}")
        returned = sum(act(stream, chance) for _ in range(150))
        ends: list[Callable[[], object]] = [stream.get_pos, stream.unbuffer, stream.close]
        for end in ends:
            end()
            names = ("store_io_request", "total_bytes", "opened", "closed", "bytes")
            truth = [len(system.reads), sum(system.reads), system.opens, system.closes, returned]
            assert counted(stream, *names) == counted(fs, *names) == truth
        assert not system.open

    def test_reads_of_a_file_that_was_cut_are_counted(self, system: System) -> None:
        """Including the one that returned fewer bytes."""
        fs = LocalFileSystem(strategy="positioned")
        with fs.open(f"{system.root}/file") as stream:
            os.truncate(f"{system.root}/file", 5000)
            assert stream.pread(1000, bytearray(10_000)) == 4000
            assert stream.read_into(bytearray(10_000)) == 5000
            names = ("store_io_request", "total_bytes", "bytes")
            assert counted(stream, *names) == [len(system.reads), sum(system.reads), 9000]

    def test_a_reopened_file_that_has_changed_is_closed_again(self, system: System) -> None:
        fs = LocalFileSystem(strategy="positioned")
        with fs.open(f"{system.root}/file") as stream:
            stream.unbuffer()
            os.utime(f"{system.root}/file", ns=(1, 1))
            with pytest.raises(OSError, match="changed") as caught:
                stream.read_byte()
            assert not system.open, f"although there is {caught.value!r}"
            assert counted(stream, "opened", "closed") == [2, 2] == [system.opens, system.closes]

    @pytest.mark.parametrize("strategy", ["positioned", "portable"])
    @pytest.mark.parametrize(
        ("known", "looks"),
        [("", 1), ("length", 0), ("status", 1), ("status without etag", 0), ("both", 1)],
    )
    def test_an_open_makes_no_call_about_the_path(
        self, system: System, strategy: str, known: str, looks: int
    ) -> None:
        """With a declared length it reads no status, unless there is a version to compare."""
        fs, path = LocalFileSystem(strategy=strategy), f"{system.root}/file"
        status = fs.get_file_status(path)
        system.of_paths.clear()
        builder = fs.open_file(path)
        if known in ("status", "both"):
            builder.with_file_status(status)
        if known == "status without etag":
            builder.with_file_status(FileStatus(path, status.length))
        if known in ("length", "both"):
            builder.opt_long(LENGTH, status.length)
        with builder.build().result() as stream:
            assert rest_of(stream) == DATA
        assert system.of_paths == []
        assert system.looks == looks
        assert counted(fs, *OPENS) == [0, 1, 1], "the status is that of the test itself"

    def test_the_portable_strategy_counts_its_reads(self, tmp_path: Path) -> None:
        """They go through a Python file."""
        made: list[int] = []

        def spied(descriptor: Any) -> Descriptor:
            file = descriptor._file

            class File:
                fileno, seek, close = file.fileno, file.seek, file.close

                def readinto(self, view: memoryview) -> int:
                    made.append(file.readinto(view))
                    return made[-1]

            descriptor._file = File()
            return descriptor  # type: ignore[no-any-return]

        fs = LocalFileSystem(str(tmp_path), strategy="portable")
        true: Any = fs._descriptor
        fs._descriptor = lambda *arguments: spied(true(*arguments))  # type: ignore[assignment]
        write(fs, "/file", DATA)
        chance = random.Random(5)
        with fs.open("/file") as stream:
            returned = sum(act(stream, chance) for _ in range(200))
            names = ("store_io_request", "total_bytes", "bytes")
            assert counted(stream, *names) == [len(made), sum(made), returned]
