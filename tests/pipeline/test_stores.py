"""Tests of the pipelines on filesystems that fsspec opens: the same results as on a local disk."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fscontract.pipeline.spark_source.source import FsContractDataSource
from tests.pipeline.cli.support import error, output
from tests.pipeline.stores import READ_ONLY, WRITABLE, store

LINES = b"".join(b"%05d %s\r\n" % (i, b"x" * (i % 70)) for i in range(400))


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A dataset with a deeper directory, and with an empty file."""
    place = tmp_path / "served" / "lake"
    for name, content in (("a.txt", LINES), ("deep/b.txt", LINES[7:]), ("deep/empty", b"")):
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return place


@pytest.fixture(params=[*READ_ONLY, *WRITABLE])
def url(
    request: pytest.FixtureRequest, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """The URL of a store with the files of the directory."""
    with store(request.param, directory.parent, monkeypatch) as made:
        yield f"{made}/lake"


@pytest.fixture
def ftp(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of the directory on an FTP server."""
    with store("ftp", directory.parent, monkeypatch) as made:
        yield f"{made}/lake"


def _without_versions(lines: bytes, root: str) -> list[dict[str, Any]]:
    """Return records without the location, the times and the ETags, which differ."""
    records = [json.loads(line.replace(root, "")) for line in lines.decode().splitlines()]
    return [{**r, "etag": None, "modification_time": None} for r in records]


def test_commands_split_read_and_list_every_store_as_a_local_disk(
    url: str, directory: Path
) -> None:
    """The same blocks, records and metadata listing."""
    for args in (["split", "--block-size", "3000"], ["read", "--block-size", "3000", "--quiet"]):
        stored = output(args[0], url, *args[1:], "--json")
        local = output(args[0], directory, *args[1:], "--json")
        assert _without_versions(stored, url) == _without_versions(local, str(directory))
    listed = output("metadata", "list-files", url, "--json")
    assert json.loads(listed) == json.loads(output("metadata", "list-files", directory, "--json"))


@pytest.mark.parametrize("name", [*READ_ONLY, "gs"])
def test_tasks_read_the_rows_of_every_store(
    name: str, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a pickled plan, which has no credentials, and glob patterns."""
    with store(name, directory, monkeypatch) as url:
        rows = {}
        for root in (url, str(directory)):
            given = {"path": f"{root}/*/*.txt", "blockSize": "3000"}
            source = FsContractDataSource(given)
            reader = source.reader(source.schema())
            sent = pickle.dumps((reader, reader.partitions()))
            assert b"hunter2" not in sent
            reader, parts = pickle.loads(sent)
            read = [row for p in parts for batch in reader.read(p) for row in batch.to_pylist()]
            rows[root] = [{**row, "path": row["path"].removeprefix(root)} for row in read]
        assert len(rows[url]) == 400
        assert rows[url] == rows[str(directory)]


@pytest.mark.parametrize("name", WRITABLE)
def test_a_table_in_a_store_that_creates_files_atomically_is_created_and_used(
    name: str, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store(name, directory.parent, monkeypatch) as url:
        output("metadata", "create", f"{url}/lake")
        assert output("metadata", "validate", f"{url}/lake").startswith(
            b"the table is correct: 2 partitions"
        )


@pytest.mark.parametrize("command", ["create", "rebuild", "delete"])
def test_a_table_is_refused_where_files_are_not_created_atomically(
    ftp: str, directory: Path, command: str
) -> None:
    """Nothing is written."""
    before = sorted(directory.rglob("*"))
    line = error(3, "metadata", command, ftp)
    assert line.startswith("ftp: is read-only for pipelines")
    assert sorted(directory.rglob("*")) == before


def test_password_of_an_option_is_in_no_message(ftp: str) -> None:
    options = ("-o", "storage.username=someone", "-o", "storage.password=wrong-0815")
    line = error(3, "read", f"{ftp}/a.txt", *options)
    assert "530" in line
    assert "wrong-0815" not in line
