"""Tests of the builder of `open_file`, on each filesystem."""

from __future__ import annotations

import math
from typing import Any

import pytest

from fscontract.contract.api import openfile_options as options
from fscontract.contract.api.errors import (
    FileNotFoundException,
    IllegalArgumentException,
    UnsupportedOperationException,
)
from fscontract.contract.api.filesystem import FileStatus, FileSystem, FSDataInputStream
from fscontract.implementations.memory import MemoryInputStream
from fscontract.implementations.openfile_builder import Builder, OpenOptions

from .support import rest_of, write


def opened_with(build: Any) -> OpenOptions:
    """Return the options that reach the filesystem from a builder set up by `build`."""
    seen: list[OpenOptions] = []

    def opener(path: str, given: OpenOptions) -> FSDataInputStream:
        seen.append(given)
        return MemoryInputStream(b"")

    build(Builder("/dir/name", opener)).build().result().close()
    return seen[0]


class TestOpening:
    def test_the_future_holds_a_stream_at_the_start(self, fs: FileSystem) -> None:
        write(fs, "/a", b"abc")
        with fs.open_file("/a").build().result() as stream:
            assert rest_of(stream) == b"abc"

    @pytest.mark.parametrize("path", ["/missing", "/dir"])
    def test_missing_file_fails_in_the_future(self, fs: FileSystem, path: str) -> None:
        fs.mkdirs("/dir")
        future = fs.open_file(path).build()
        assert isinstance(future.exception(), FileNotFoundException)

    def test_nothing_is_looked_up_before_build(self, fs: FileSystem) -> None:
        builder = fs.open_file("/later")
        write(fs, "/later", b"x")
        with builder.build().result() as stream:
            assert rest_of(stream) == b"x"

    def test_a_builder_builds_independent_streams(self, fs: FileSystem) -> None:
        write(fs, "/a", b"x")
        builder = fs.open_file("/a")
        with builder.build().result() as one, builder.build().result() as two:
            one.close()
            assert rest_of(two) == b"x"

    @pytest.mark.parametrize("policy", [*options.option_table().policies, "what, ever"])
    def test_no_read_policy_changes_the_data(self, fs: FileSystem, policy: str) -> None:
        write(fs, "/a", b"0123456789")
        builder = fs.open_file("/a").must(options.READ_POLICY, policy)
        with builder.build().result() as stream:
            assert rest_of(stream) == b"0123456789"

    @pytest.mark.parametrize("size", [0, 1, 3, 1 << 20])
    def test_no_buffer_size_changes_the_data(self, fs: FileSystem, size: int) -> None:
        write(fs, "/a", b"0123456789")
        with fs.open_file("/a").buffer_size(size).build().result() as stream:
            assert [stream.read_byte() for _ in range(3)] == list(b"012")
            assert rest_of(stream) == b"3456789"


class TestStatus:
    def test_none_is_ignored(self, fs: FileSystem) -> None:
        write(fs, "/a", b"x")
        fs.open_file("/a").with_file_status(None).build().result().close()

    def test_only_the_last_element_of_its_path_counts(self, fs: FileSystem) -> None:
        write(fs, "/dir/a", b"x")
        status = FileStatus("gopher://host/other/a", 1)
        fs.open_file("/dir/a").with_file_status(status).build().result().close()

    def test_another_name_fails_in_the_future(self, fs: FileSystem) -> None:
        write(fs, "/a", b"x")
        future = fs.open_file("/a").with_file_status(FileStatus("/b", 1)).build()
        assert isinstance(future.exception(), IllegalArgumentException)

    def test_object_that_is_not_a_status_fails_in_the_future(self, fs: FileSystem) -> None:
        write(fs, "/a", b"x")
        given: Any = "/a"
        future = fs.open_file("/a").with_file_status(given).build()
        assert isinstance(future.exception(), AttributeError)

    def test_length_of_a_status_overrides_the_option(self) -> None:
        status = FileStatus("/dir/name", 4096)
        got = opened_with(lambda b: b.with_file_status(status).opt(options.LENGTH, 32))
        assert (got.length, got.status) == (4096, status)

    def test_it_does_not_make_a_missing_file_exist(self, fs: FileSystem) -> None:
        future = fs.open_file("/a").with_file_status(FileStatus("/a", 1)).build()
        assert isinstance(future.exception(), FileNotFoundException)


class TestKeys:
    @pytest.mark.parametrize("key", sorted(options.option_table().standard_keys))
    def test_every_standard_key_may_be_mandatory(self, fs: FileSystem, key: str) -> None:
        write(fs, "/a", b"x")
        fs.open_file("/a").must(key, "nonsense").build().result().close()

    def test_an_unknown_mandatory_key_fails_in_build(self, fs: FileSystem) -> None:
        builder = fs.open_file("/missing").must("fs.unknown", 1)
        with pytest.raises(IllegalArgumentException, match=r"'fs\.unknown'.*read\.policy"):
            builder.build()

    def test_an_unknown_optional_key_is_ignored(self, fs: FileSystem) -> None:
        write(fs, "/a", b"x")
        builder = fs.open_file("/a").opt("fs.unknown", 1).opt_long("fs.x", 2)
        builder.opt_double("fs.y", 3.0).build().result().close()

    def test_the_last_setting_decides_whether_a_key_is_mandatory(self, fs: FileSystem) -> None:
        write(fs, "/a", b"x")
        fs.open_file("/a").must("fs.unknown", 1).opt("fs.unknown", 1).build().result().close()
        with pytest.raises(IllegalArgumentException):
            fs.open_file("/a").opt("fs.unknown", 1).must("fs.unknown", 1).build()

    @pytest.mark.parametrize(("key", "value"), [(None, "x"), ("key", None)])
    def test_keys_and_values_are_needed(self, fs: FileSystem, key: Any, value: Any) -> None:
        with pytest.raises(IllegalArgumentException):
            fs.open_file("/a").opt(key, value)
        with pytest.raises(IllegalArgumentException):
            fs.open_file("/a").must(key, value)

    def test_a_filesystem_may_know_more_keys(self) -> None:
        got = opened_with(lambda b: Builder("/a", b._opener, known=["fs.mine"]).must("fs.mine", 1))
        assert got.own == {"fs.mine": "1"}

    def test_a_mandatory_key_without_support_fails_in_build(self, fs: FileSystem) -> None:
        builder = Builder("/a", lambda path, given: fs.open(path), unsupported=["fs.sql"])
        with pytest.raises(UnsupportedOperationException, match=r"'fs\.sql'"):
            builder.must("fs.sql", "q").build()
        assert isinstance(builder.opt("fs.sql", "q").build().exception(), FileNotFoundException)


class TestValues:
    @pytest.mark.parametrize(("given", "meant"), options.option_table().types["long"].examples)
    def test_numbers_are_read_as_the_table_says(self, given: Any, meant: int | None) -> None:
        if isinstance(given, float):
            assert opened_with(lambda b: b.opt_double(options.LENGTH, given)).length == meant
        else:
            assert opened_with(lambda b: b.opt(options.LENGTH, given)).length == meant
            assert opened_with(lambda b: b.must(options.LENGTH, given)).length == meant

    @pytest.mark.parametrize("value", ["9" * 5000, 10**5000, -(10**5000)], ids=["9s", "+", "-"])
    def test_numbers_too_long_for_python_to_convert_are_unset(self, value: Any) -> None:
        assert opened_with(lambda b: b.opt(options.LENGTH, value)).length is None

    def test_a_buffer_size_has_32_bits(self) -> None:
        assert opened_with(lambda b: b.buffer_size(2**31 - 1)).buffer_size == 2**31 - 1
        assert opened_with(lambda b: b.buffer_size(2**31)).buffer_size is None

    @pytest.mark.parametrize(
        ("value", "number"),
        [(1.8, 1), (2e3, 2000), (43.2e60, 2**63 - 1), (-1.0, None), (math.nan, None)],
    )
    def test_a_double_counts_by_its_whole_part(self, value: float, number: int | None) -> None:
        assert opened_with(lambda b: b.must_double(options.LENGTH, value)).length == number

    @pytest.mark.parametrize(
        ("text", "policy"),
        [
            ("random", "random"),
            (" a, b, RandOm, other", "random"),
            ("hbase, random", "hbase"),
            ("a,b", None),
            ("", None),
        ],
    )
    def test_the_first_known_policy_is_used(self, text: str, policy: str | None) -> None:
        assert opened_with(lambda b: b.opt(options.READ_POLICY, text)).read_policy == policy

    @pytest.mark.parametrize(
        ("value", "flag"), [(True, True), (False, False), (" TRUE", True), ("maybe", None)]
    )
    def test_footer_cache_is_true_false_or_unset(self, value: Any, flag: bool | None) -> None:
        assert opened_with(lambda b: b.opt(options.FOOTER_CACHE, value)).footer_cache is flag

    @pytest.mark.parametrize(
        ("start", "end", "split"),
        [(1, 2, (1, 2)), (2, 2, (2, 2)), (3, 2, (0, 2)), (3, -1, (3, None)), (-1, 5, (None, 5))],
    )
    def test_a_split_that_starts_after_its_end_starts_at_0(
        self, start: int, end: int, split: tuple[int | None, int | None]
    ) -> None:
        got = opened_with(
            lambda b: b.opt_long(options.SPLIT_START, start).opt_long(options.SPLIT_END, end)
        )
        assert (got.split_start, got.split_end) == split

    def test_the_last_of_buffer_size_and_its_key_wins(self) -> None:
        key = options.BUFFER_SIZE
        assert opened_with(lambda b: b.buffer_size(1).opt(key, 2)).buffer_size == 2
        assert opened_with(lambda b: b.opt(key, 2).buffer_size(1)).buffer_size == 1
