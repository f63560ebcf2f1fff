"""Tests of `open_file` for files of web servers, through fsspec."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from fscontract.contract.api.filesystem import FileStatus
from fscontract.contract.api.openfile_options import LENGTH, READ_POLICY
from fscontract.implementations.bindings.fsspec_quirks import close_sessions
from fscontract.implementations.fsspec_open_file import open_file
from servers.http_files import DATA, NoRanges, WithRanges, serving

pytest.importorskip("aiohttp")


@contextmanager
def connected(server: type[NoRanges | WithRanges]) -> Iterator[tuple[Any, str, list[str]]]:
    """Yield a filesystem, the URL of the server's file, and the method of each request."""
    from fsspec.implementations.http import HTTPFileSystem

    methods: list[str] = []

    class Noting(server):  # type: ignore[valid-type,misc]
        def _answer(self, body: bool) -> None:
            methods.append("GET" if body else "HEAD")
            super()._answer(body)

    fs = HTTPFileSystem(skip_instance_cache=True)
    with serving(Noting) as url:
        yield fs, f"{url}file", methods
    close_sessions(fs)


def test_info_status_saves_a_request() -> None:
    """It has requested the size, and whether the server supports ranges."""
    with connected(WithRanges) as (fs, url, methods):
        info = fs.info(url)
        methods.clear()
        file = open_file(fs, url).with_file_status(info).build().result()
        assert not methods
        assert file.read(10) == DATA[:10]
        assert methods == ["GET"]
        file.close()


def test_length_alone_does_not_imply_range_support() -> None:
    """With size=, fsspec would assume range support, and fail past the first block."""
    with connected(NoRanges) as (fs, url, _):
        if "partial" not in fs.info(url):
            pytest.skip("this fsspec takes ranges for granted, with a hint or without")
        for status in (FileStatus("/file", len(DATA)), fs.info(url)):
            builder = open_file(fs, url).with_file_status(status).buffer_size(1000)
            file = builder.opt(READ_POLICY, "sequential").build().result()
            assert b"".join(iter(lambda file=file: file.read(3000), b"")) == DATA  # type: ignore[misc]
            file.close()


@pytest.mark.parametrize("policy", ["sequential", "random", "whole-file", "default"])
@pytest.mark.parametrize("length", [0, 4500, 8999, 9001, 20_000, 2**63 - 1])
def test_a_wrong_length_gives_no_wrong_bytes(policy: str, length: int) -> None:
    """Also if info() reported support of ranges."""
    with connected(WithRanges) as (fs, url, _):
        builder = open_file(fs, url).with_file_status({"name": url, "size": length})
        file = builder.opt(READ_POLICY, policy).opt_long(LENGTH, 3).build().result()
        read = b"".join(iter(lambda: file.read(1000), b""))
        assert read == (DATA[:length] if length else DATA)
        file.close()


def test_a_missing_file_fails_in_the_future_or_where_it_is_read() -> None:
    """As FileNotFoundError in both cases, although aiohttp has its own exception for reads."""
    with connected(WithRanges) as (fs, url, _):
        missing = url.replace("file", "none")
        assert isinstance(open_file(fs, missing).build().exception(), FileNotFoundError)
        trusting = open_file(fs, missing).with_file_status({"name": "none", "size": 9})
        file = trusting.build().result()
        with pytest.raises(FileNotFoundError):
            file.read(1)
        file.close()
