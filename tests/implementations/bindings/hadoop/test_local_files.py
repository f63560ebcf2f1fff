"""Tests of local files for Hadoop, which are all removed at the end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from fscontract.contract.binding import TargetError
from fscontract.contract.program.program import Step
from fscontract.implementations.bindings.hadoop.binding import HadoopBinding
from fscontract.implementations.bindings.hadoop.local_files import ChecksumStore

from .conftest import Make

DATA = bytes(i % 251 for i in range(1300))
Shown = Callable[..., list[str]]


@pytest.mark.parametrize("scheme", ["raw", "file", "viewfs", "har"])
def test_all_files_lie_below_one_removed_directory(scheme: str, make: Make, tmp_path: Path) -> None:
    """`leftovers` finds it while it exists."""
    binding = make(scheme)
    binding.create(DATA)
    (made,) = tmp_path.iterdir()
    assert binding.leftovers() == [binding.prefix]
    assert binding.prefix is not None
    assert binding.prefix.endswith(f"/{made.name}")
    binding.dispose()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("scheme", ["file", "viewfs"])
def test_files_have_hadoop_checksums(scheme: str, make: Make, tmp_path: Path, shown: Shown) -> None:
    """A byte changed without Hadoop is detected."""
    binding = make(scheme)
    whole = ("read_fully_all", 0, len(DATA))
    assert shown(binding, DATA, whole)[0].startswith("returned, buffer 00 01")
    path = binding.create(DATA)
    (file,) = tmp_path.glob(f"*/{path.rpartition('/')[2]}")
    file.write_bytes(DATA[:-1] + b"\x00")
    opened = binding.open(path)
    said = binding.bind(Step("read_fully_all", (0, len(DATA))))(opened)
    assert said.detail.startswith("ChecksumException")
    binding.bind(Step("close"))(opened)


@pytest.mark.parametrize("scheme", ["file", "viewfs"])
def test_file_moved_by_hadoop_is_restored(scheme: str, make: Make, tmp_path: Path) -> None:
    """LocalFileSystem assumes that the file is corrupt if a stream seeks to a new source."""
    binding = make(scheme)
    store = binding.location.store
    assert isinstance(store, ChecksumStore)
    path = binding.create(DATA)
    before = {p for p in tmp_path.rglob("*") if p.is_file()}
    bad = [p / "bad_files" for p in (tmp_path, *tmp_path.parents)]
    there = {p for p in bad if p.exists()}
    opened = binding.open(path)
    binding.bind(Step("seek_to_new_source", (0,)))(opened)
    binding.bind(Step("close"))(opened)
    assert {p for p in tmp_path.rglob("*") if p.is_file()} == before
    assert {p for p in bad if p.exists()} == there


def test_files_moved_before_a_killed_run_are_removed(make: Make, tmp_path: Path) -> None:
    """Hadoop has moved it to `bad_files` in some parent directory, among other files."""
    binding = make("file")
    name = binding.create(DATA).rpartition("/")[2]
    bad = tmp_path / "bad_files"
    bad.mkdir()
    for start in (name, f".{name}.crc"):
        (bad / f"{start}.-123").touch()
    (bad / "others.5").touch()
    binding.dispose()
    assert [p.name for p in bad.iterdir()] == ["others.5"]


def test_an_archive_has_other_bytes_around_its_file(make: Make, shown: Shown) -> None:
    """A read outside the file returns bytes that content never contains."""
    said = shown(make("har"), b"\x05\x06", ("pread", -1, 2, 0, 2))
    assert said == snapshot(["returned 2, buffer 02 05"])


def test_missing_directory_error_is_one_line(tmp_path: Path) -> None:
    """It is not created."""
    for scheme in ("raw", "har"):
        with pytest.raises(TargetError, match=r"^hadoop.*/gone: directory not found$"):
            HadoopBinding.from_url(f"{scheme}://{tmp_path}/gone", {})
