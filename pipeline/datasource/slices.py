"""Which Parquet files of a Hudi table have its rows: newer ones of a group replace older ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from fscontract.contract.ports import FileStatus
from fscontract.pipeline.datasource.errors import SourceException

_GROUP = r"(?P<group>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}-\d+)"
_DATA = re.compile(rf"{_GROUP}_\d+-\d+-\d+_(?P<instant>\d{{14,17}})\.parquet", re.ASCII)
_LOG = re.compile(rf"\.{_GROUP}_\d{{14,17}}\.log\.\d+_.*", re.ASCII)
#: Actions that replace files without deleting them.
_REPLACING = frozenset({"replacecommit", "clustering"})


def current_files(
    kept: Sequence[FileStatus],
    everything: Callable[[], Sequence[FileStatus]],
    actions: Callable[[], Collection[str]],
) -> list[FileStatus]:
    """The files among some that no newer file of their group replaces.

    The newer one may be among `everything` only: it may have no row that is asked for, and
    replaces the older one all the same. Files with other names than Hudi's are all kept.
    SourceException for a table whose rows are not in such files alone, by the actions that were
    completed, or because there are logs.
    """
    if not any(_DATA.fullmatch(name) or _LOG.fullmatch(name) for name in map(_name, kept)):
        return list(kept)
    latest: dict[tuple[str, str], str] = {}
    for status in everything():
        if _LOG.fullmatch(_name(status)):
            raise SourceException(f"logs of Hudi are not read as Parquet: {status.path!r}")
        if found := _DATA.fullmatch(_name(status)):
            key = (_directory(status), found["group"])
            latest[key] = max(latest.get(key, ""), found["instant"])
    if replacing := _REPLACING.intersection(actions()):
        raise SourceException(f"which files a {min(replacing)} of Hudi replaced is not read")
    return [each for each in kept if _is_latest(each, latest)]


def _is_latest(status: FileStatus, latest: dict[tuple[str, str], str]) -> bool:
    found = _DATA.fullmatch(_name(status))
    return found is None or latest[_directory(status), found["group"]] == found["instant"]


def _name(status: FileStatus) -> str:
    return status.path.rpartition("/")[2]


def _directory(status: FileStatus) -> str:
    return status.path.rpartition("/")[0]
