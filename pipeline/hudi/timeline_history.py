"""Completion times of archived instants, from the history of a table's timeline.

Tables from version 8 on archive instants in Parquet files below `.hoodie/timeline/history`. The
file `_version_` has the number of the current manifest, which names the Parquet files.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.contract.untrusted import parse_json
from fscontract.pipeline.hudi.base_files import read_parquet
from fscontract.pipeline.hudi.io import MetadataException, in_threads, read_file
from fscontract.pipeline.hudi.timeline import TIMELINE

HISTORY = f"{TIMELINE}/history"
#: Property with the name of the directory below that of the timeline.
HISTORY_PATH = "hoodie.timeline.history.path"
_VERSION, _MANIFEST = "_version_", "manifest_"
_TIME, _COMPLETED = "instantTime", "completionTime"
_MAX_BYTES = 4 << 20


def archived_completions(fs: FileSystem, table: str) -> dict[str, str]:
    """Return the completion times of archived instants, by their times; none without a history.

    Raise MetadataException if the history is damaged.
    """
    directory = f"{table}/{HISTORY}"
    try:
        version = _read_small(fs, f"{directory}/{_VERSION}").strip()
    except FileNotFoundError:
        return {}
    if not version.isdigit():
        raise MetadataException(f"{directory}/{_VERSION}", "expected the number of a manifest")
    path = f"{directory}/{_MANIFEST}{version.decode()}"
    statuses = _files(directory, path, _read_small(fs, path))
    completions: dict[str, str] = {}
    for rows in in_threads(partial(_rows, fs), statuses):
        times = zip(rows[_TIME].to_pylist(), rows[_COMPLETED].to_pylist(), strict=True)
        completions.update((time, end) for time, end in times if time and end)
    return completions


def _read_small(fs: FileSystem, path: str) -> bytes:
    size = fs.get_file_status(path).length
    if size > _MAX_BYTES:
        raise MetadataException(path, f"too large: {size} bytes; must be at most {_MAX_BYTES}")
    return read_file(fs, path)


def _files(directory: str, path: str, manifest: bytes) -> list[FileStatus]:
    """Return the files that a manifest names; raise MetadataException."""
    try:
        entries = parse_json(manifest)["files"]
        named = [(entry["fileName"], entry["fileLen"]) for entry in entries]
    except (ValueError, KeyError, TypeError) as error:
        raise MetadataException(path, f"invalid manifest of the history: {error}") from error
    for name, length in named:
        is_name = isinstance(name, str) and "/" not in name
        if not is_name or not isinstance(length, int) or length < 0:
            raise MetadataException(path, f"invalid file of the history: {name!r}, {length!r}")
    return [FileStatus(f"{directory}/{name}", length) for name, length in named]


def _rows(fs: FileSystem, status: FileStatus) -> Any:
    rows = read_parquet(fs, status, (_TIME, _COMPLETED))
    if missing := {_TIME, _COMPLETED}.difference(rows.column_names):
        raise MetadataException(status.path, f"archived instants have no column {min(missing)!r}")
    return rows
