"""Tests of the initial metadata table of a dataset from listings by Spark tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fscontract.contract.api.errors import UnsupportedOperationException
from fscontract.contract.cli.main import main
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.implementations.spark.locations import FileLocation, LocalLocation
from fscontract.pipeline.cli import read
from fscontract.pipeline.hudi.listing import listing, listing_by, spark_lister
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.writer import MetadataWriter


class Here:
    """Tasks in this process, with a parallelism of two."""

    parallelism = 2

    def __init__(self) -> None:
        self.jobs: list[list[Any]] = []

    def map(
        self, function: Callable[[Any], Any], items: Sequence[Any], slices: int | None = None
    ) -> list[Any]:
        """Call the function with each item in turn."""
        self.jobs.append(list(items))
        return [function(each) for each in items]


def _files(root: Path, names: Sequence[str]) -> str:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())
    return str(root)


@pytest.mark.parametrize(
    ("names", "jobs"),
    [
        ([], 0),
        (["a", "b"], 0),
        (["one/two/three/four/five/f"], 0),
        ([f"year={y}/month={m}/f{m}" for y in range(3) for m in range(12)], 1),
        (["f", *(f"p={n}/f" for n in range(100)), *(f"p={n}/deep/g" for n in range(5))], 1),
        (["f", ".hoodie/x", *(f"p={n}/f" for n in range(8))], 1),
    ],
    ids=["nothing", "flat", "deep", "months", "wide", "eight"],
)
def test_listing_equals_that_of_one_process(tmp_path: Path, names: list[str], jobs: int) -> None:
    """With at most one job, for any directory structure."""
    path = _files(tmp_path, names)
    fs, tasks = LocalFileSystem("/"), Here()
    told: list[tuple[int, int]] = []
    found = listing_by(tasks, fs, path, lambda *counts: told.append(counts))  # type: ignore[arg-type]
    assert found == listing(fs, path)
    assert len(tasks.jobs) == jobs
    assert sum(map(len, found.values())) == len([n for n in names if ".hoodie" not in n])
    assert told == [(len(found), sum(map(len, found.values())))]


def test_the_command_lists_by_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the given master."""
    path = _files(tmp_path, [f"day={n}/f" for n in range(20)])
    tasks, masters = Here(), []

    @contextmanager
    def here(master: str, places: list[FileLocation]) -> Iterator[Here]:
        masters.append((master, places))
        yield tasks

    monkeypatch.setattr(read, "spark_tasks", here)
    done = CliRunner().invoke(main, ["metadata", "create", path, "--spark", "local[2]"])
    assert done.exit_code == 0, done.output
    assert masters == [("local[2]", [LocalLocation("/")])]
    assert len(tasks.jobs) == 1
    validated = CliRunner().invoke(main, ["metadata", "validate", path])
    assert "the table is correct: 20 partitions, 20 files" in validated.output


def test_split_lists_several_inputs_by_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks are those of one process, also of a file, and of hidden directories."""
    names = [f"{top}/{n}/f" for top in ("a", "b") for n in (*range(12), ".hidden", "0.0")]
    path = _files(tmp_path, [*names, "a/0/deep/g", "single"])
    tasks = Here()
    monkeypatch.setattr(read, "spark_tasks", lambda *_: nullcontext(tasks))
    command = ["split", f"{path}/a", f"{path}/single", f"{path}/b", "--json"]
    alone = CliRunner().invoke(main, command)
    assert alone.exit_code == 0, alone.output
    assert CliRunner().invoke(main, [*command, "--spark", "local[2]"]).output == alone.output
    assert len(tasks.jobs) == 2


@pytest.mark.xdist_group("spark")
def test_executors_list_a_dataset(spark: Any, tmp_path: Path) -> None:
    """The table equals that of a listing in this process."""
    names = [f"day={n}/{m}" for n in range(20) for m in range(3)]
    one, other = _files(tmp_path / "one", names), _files(tmp_path / "other", names)
    fs = LocalFileSystem("/")
    MetadataWriter(fs, one).initialize("trips", lister=spark_lister(spark))
    MetadataWriter(fs, other).initialize("trips")
    (file,) = Path(one, ".hoodie/metadata/files").glob("*.hfile")
    (same,) = Path(other, ".hoodie/metadata/files").glob("*.hfile")
    assert file.read_bytes() == same.read_bytes()
    with MetadataTable(fs, one) as table:
        assert len(table.list_partitions()) == 20


@pytest.mark.xdist_group("spark")
def test_files_that_executors_do_not_see_are_an_error(spark: Any) -> None:
    """For example in the memory of this process, unless one directory has them all."""
    fs = MemoryFileSystem()
    for number in range(20):
        with fs.create(f"/in/{number}/f") as file:
            file.write(b"x")
    with pytest.raises(UnsupportedOperationException, match="files in memory can't be pickled"):
        MetadataWriter(fs, "/in").initialize(lister=spark_lister(spark))
