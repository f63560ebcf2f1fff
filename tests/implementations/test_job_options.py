"""Tests of opening a job's input."""

from __future__ import annotations

from concurrent.futures import Future

import pytest

from fscontract.contract.api.errors import FileNotFoundException, IllegalArgumentException
from fscontract.contract.api.filesystem import FileSystem, FSDataInputStream
from fscontract.contract.api.openfile_options import LENGTH, READ_POLICY
from fscontract.implementations.memory import MemoryInputStream
from fscontract.implementations.openfile_builder import (
    Builder,
    OpenOptions,
    await_future,
    propagate_options,
)
from tests.limits import DEADLOCK

from .support import rest_of, write

OPTION = "mapreduce.job.input.file.option."
MUST = "mapreduce.job.input.file.must."


def opened_by(configuration: dict[str, str], *prefixes: str) -> OpenOptions:
    """Return the options that reach the filesystem from a configuration."""
    seen: list[OpenOptions] = []

    def opener(path: str, given: OpenOptions) -> FSDataInputStream:
        seen.append(given)
        return MemoryInputStream(b"")

    builder = Builder("/name", opener)
    propagate_options(builder, configuration, *prefixes)
    await_future(builder.build()).close()
    return seen[0]


class TestPropagation:
    def test_keys_below_the_prefixes_are_set(self) -> None:
        given = {OPTION + READ_POLICY: "random", MUST + LENGTH: "7", LENGTH: "9"}
        assert opened_by(given) == OpenOptions(read_policy="random", length=7)

    def test_only_keys_below_must_are_mandatory(self) -> None:
        opened_by({OPTION + "fs.unknown": "1", MUST.rstrip(".") + "y": "1"})
        with pytest.raises(IllegalArgumentException, match=r"'fs\.unknown'"):
            opened_by({MUST + "fs.unknown": "1"})

    @pytest.mark.parametrize("order", [1, -1])
    def test_the_mandatory_value_wins_in_any_order(self, order: int) -> None:
        pairs = [(OPTION + LENGTH, "1"), (MUST + LENGTH, "2")]
        assert opened_by(dict(pairs[::order])).length == 2

    @pytest.mark.parametrize("dot", ["", "."])
    def test_prefixes_can_be_named_with_and_without_their_dot(self, dot: str) -> None:
        given = {f"a.{READ_POLICY}": "orc", f"b.{LENGTH}": "7", f"ab.{LENGTH}": "8"}
        opened = opened_by(given, f"a{dot}", f"b{dot}")
        assert (opened.read_policy, opened.length) == ("orc", 7)

    def test_a_key_that_is_the_prefix_alone_is_an_unknown_one(self) -> None:
        opened_by({OPTION: "1"})
        with pytest.raises(IllegalArgumentException):
            opened_by({MUST: "1"})


class TestWaiting:
    def test_it_gives_the_stream(self, fs: FileSystem) -> None:
        write(fs, "/a", b"abc")
        with await_future(fs.open_file("/a").build(), timeout=DEADLOCK) as stream:
            assert rest_of(stream) == b"abc"

    def test_it_raises_the_cause_itself(self, fs: FileSystem) -> None:
        future = fs.open_file("/missing").build()
        with pytest.raises(FileNotFoundException) as caught:
            await_future(future)
        assert caught.value is future.exception()

    def test_it_gives_up_after_the_timeout(self) -> None:
        future: Future[int] = Future()
        with pytest.raises(TimeoutError, match="0 seconds"):
            await_future(future, timeout=0)
        future.set_result(7)
        assert await_future(future, timeout=0) == 7

    def test_timeout_of_the_store_is_passed_on(self) -> None:
        future: Future[int] = Future()
        cause = TimeoutError("the store")
        future.set_exception(cause)
        with pytest.raises(TimeoutError) as caught:
            await_future(future)
        assert caught.value is cause
