"""Files are put where Hadoop sees them, and nothing of them stays."""

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
def test_everything_lies_below_one_directory_that_goes(
    scheme: str, make: Make, tmp_path: Path
) -> None:
    """It is found by `leftovers` as long as it is there."""
    binding = make(scheme)
    binding.create(DATA)
    (made,) = tmp_path.iterdir()
    assert binding.leftovers() == [binding.prefix]
    assert binding.prefix is not None
    assert binding.prefix.endswith(f"/{made.name}")
    binding.dispose()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("scheme", ["file", "viewfs"])
def test_files_have_the_checksums_that_hadoop_looks_at(
    scheme: str, make: Make, tmp_path: Path, shown: Shown
) -> None:
    """A byte changed behind its back is noticed."""
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
def test_a_file_that_hadoop_moves_away_is_put_back(scheme: str, make: Make, tmp_path: Path) -> None:
    """LocalFileSystem takes a call for another source as a word that the file is corrupt."""
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


def test_what_was_moved_away_before_a_run_was_killed_is_removed(make: Make, tmp_path: Path) -> None:
    """Hadoop has put it into `bad_files` somewhere above, among others' files."""
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
    """A read that leaves the file shows what content never holds."""
    said = shown(make("har"), b"\x05\x06", ("pread", -1, 2, 0, 2))
    assert said == snapshot(["returned 2, buffer 02 05"])


def test_a_directory_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    """No place is made up for it."""
    for scheme in ("raw", "har"):
        with pytest.raises(TargetError, match=r"^hadoop.*/gone: directory not found$"):
            HadoopBinding.from_url(f"{scheme}://{tmp_path}/gone", {})
