"""Metadata tables that Hudi itself wrote list the files that are there.

FSCONTRACT_HUDI_TABLES names a directory of archives, each with one dataset, such as those in
crates/test/data of apache/hudi-rs. They are too large for this repository.
"""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from zipfile import ZipFile

import pytest

from fscontract.contract.models.metadata_table import difference
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi.table import MetadataTable

_DIRECTORY = os.environ.get("FSCONTRACT_HUDI_TABLES", "")
ARCHIVES = sorted(Path(_DIRECTORY).glob("*.zip")) if _DIRECTORY else []
#: The names that are no data files.
_OTHERS = (".hoodie_partition_metadata", ".crc")


def extracted(archive: Path, directory: Path) -> Path:
    """Extract a dataset, and return its directory."""
    with ZipFile(archive) as file:
        file.extractall(directory)
    (found,) = directory.glob("*/.hoodie")
    return found.parent


def files_below(root: Path) -> dict[str, dict[str, int]]:
    """Return the sizes of the data files by partition and name."""
    found: dict[str, dict[str, int]] = {}
    for path in root.rglob("*"):
        inside = path.relative_to(root)
        if path.is_file() and inside.parts[0] != ".hoodie" and not path.name.endswith(_OTHERS):
            partition = inside.parent.as_posix().removeprefix(".")
            found.setdefault(partition, {})[path.name] = path.stat().st_size
    return found


def listed(root: Path) -> dict[str, dict[str, int]]:
    """Return the same from the metadata table."""
    with closing(MetadataTable(LocalFileSystem(), str(root))) as table:
        partitions = table.list_many(table.list_partitions()).items()
        return {
            name: {Path(status.path).name: status.length for status in statuses}
            for name, statuses in partitions
        }


@pytest.mark.skipif(not ARCHIVES, reason="FSCONTRACT_HUDI_TABLES names no directory of archives")
def test_the_table_lists_what_is_in_the_directories(tmp_path: Path) -> None:
    """Of each dataset that has a metadata table; one file less is noticed."""
    checked = 0
    for number, archive in enumerate(ARCHIVES):
        root = extracted(archive, tmp_path / str(number))
        if not (root / ".hoodie" / "metadata").is_dir():
            continue
        checked += 1
        present = files_below(root)
        assert difference(listed(root), present) == "", archive.name
        partition, names = next(iter(present.items()))
        (root / partition / next(iter(names))).unlink()
        assert difference(listed(root), files_below(root)) != "", archive.name
    assert checked
