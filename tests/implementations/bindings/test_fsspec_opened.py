"""Files that fsspec opens with options, or by URL."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

import pytest
from fsspec.caching import caches
from fsspec.implementations.memory import MemoryFileSystem

from fscontract.contract.models.fsspec_opened import cached_reads
from fscontract.contract.program.filesystem_calls import CACHES, OTHER
from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.contract.program.program import Step
from fscontract.fakes.mutants.correct_filesystem import RightFilesystem
from fscontract.implementations.bindings.fsspec import FsspecBinding
from tests.unusual.filesystems import Ranged

_DATA = bytes(range(256)) + b"end"


def _run(filesystem: Any, op: str, *args: Any) -> Outcome:
    binding = FsspecBinding(filesystem, "", "mine")
    binding.prepare()
    stream = binding.open(binding.create(_DATA))
    return binding.bind(Step(op, args))(stream)


def test_every_cache_of_fsspec_is_tried_but_that_of_known_parts() -> None:
    assert {*caches} <= {*CACHES, "parts", None}


@pytest.mark.parametrize("cache", CACHES)
def test_file_is_read_through_each_cache(cache: str) -> None:
    outcome = _run(Ranged(), "fs_open_cached", cache, "48 bytes")
    assert (outcome.kind, outcome.value) == (Kind.RETURNED, cached_reads(_DATA))


def test_file_is_read_from_where_it_begins_before_any_seek() -> None:
    class BeginsLater(RightFilesystem):
        def open(self, path: str, mode: str = "rb", **options: Any) -> Any:
            """Open a file at its second byte if a cache is chosen."""
            file = super().open(path, mode, **options)
            file.seek("cache_type" in options)
            return file

    outcome = _run(BeginsLater(), "fs_open_cached", "all", "4 KiB")
    assert outcome.value == (_DATA[1:2], *cached_reads(_DATA)[1:])


def test_filesystem_that_refuses_a_cache_is_not_judged() -> None:
    class Strict(RightFilesystem):
        def open(self, path: str, mode: str = "rb", **options: Any) -> Any:
            if "cache_type" in options:
                raise TypeError("unexpected keyword argument")
            return super().open(path, mode, **options)

    assert _run(Strict(), "fs_open_cached", "all", "4 KiB").kind is Kind.INEXPRESSIBLE


@pytest.mark.parametrize("opener", ["fs.open", "OpenFile"])
@pytest.mark.parametrize("chosen", ["named", "infer"])
@pytest.mark.parametrize("codec", ["gzip", "bz2", "xz"])
def test_compressed_file_is_decompressed(codec: str, chosen: str, opener: str) -> None:
    outcome = _run(RightFilesystem(), "fs_decompress", codec, chosen, opener, "parts")
    assert (outcome.kind, outcome.value) == (Kind.RETURNED, OTHER)


@pytest.mark.parametrize("opener", ["fs.open", "OpenFile"])
def test_compressed_file_is_read_as_text(opener: str) -> None:
    outcome = _run(RightFilesystem(), "fs_decompress", "gzip", "infer", opener, "text")
    assert outcome.value == OTHER.decode()


@pytest.mark.parametrize(
    ("paths", "contents"),
    [("file", (_DATA,)), (("other", "file"), (OTHER, _DATA)), ("glob", (OTHER,))],
)
def test_files_are_opened_by_their_urls(paths: Any, contents: tuple[bytes, ...]) -> None:
    outcome = _run(MemoryFileSystem(skip_instance_cache=True), "fs_open_urls", paths)
    assert (outcome.kind, outcome.value) == (Kind.RETURNED, contents)


def test_filesystem_that_its_urls_do_not_find_is_not_judged() -> None:
    class Other(MemoryFileSystem):  # type: ignore[misc]
        store: ClassVar[dict[str, Any]] = {}

    class Unknown(RightFilesystem):
        protocol = f"unknown-{uuid.uuid4().hex}"

    for filesystem in (Other(), Unknown()):
        assert _run(filesystem, "fs_open_urls", "file").kind is Kind.INEXPRESSIBLE
