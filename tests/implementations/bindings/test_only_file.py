"""Any fsspec filesystem is checked with one file that it holds."""

from __future__ import annotations

import zipfile
from pathlib import Path

import fsspec
import pytest
from pyarrow.fs import LocalFileSystem

from fscontract import check
from fscontract.contract.targets import UsageError, resolve_any, resolve_target

_DATA = bytes(range(256)) * 40


def _archive(folder: Path) -> Path:
    (folder / "copy").write_bytes(_DATA)
    with zipfile.ZipFile(folder / "archive.zip", "w") as archive:
        archive.write(folder / "copy", "in/member")
    return folder / "copy"


def test_a_filesystem_object_is_checked_with_one_file(tmp_path: Path) -> None:
    copy = _archive(tmp_path)
    fs = fsspec.filesystem("zip", fo=str(tmp_path / "archive.zip"))
    clauses = ["read-into.data", "filesystem.cat-file.whole"]
    result = check(lambda: fs, file="in/member", content=copy, clauses=clauses)
    assert [str(c.outcome) for c in result.clauses] == ["pass", "pass"]
    copy.write_bytes(b"?" * len(_DATA))
    assert check(lambda: fs, file="in/member", content=copy, clauses=clauses).exit_code == 1


def test_a_callable_of_a_file_takes_file_and_content(tmp_path: Path) -> None:
    copy, code = _archive(tmp_path), tmp_path / "zipped.py"
    archive = str(tmp_path / "archive.zip")
    code.write_text(f"import fsspec\ndef fs(): return fsspec.filesystem('zip', fo={archive!r})\n")
    binding = resolve_target(f"{code}:fs", {}, "in/member", copy)
    assert binding.fixed_content == _DATA
    assert binding.name == f"{code}:fs"
    binding.prepare()


def test_another_filesystem_has_no_only_file(tmp_path: Path) -> None:
    copy = _archive(tmp_path)
    with pytest.raises(UsageError, match="require a URL, or a filesystem of fsspec"):
        check(LocalFileSystem(), file="in/member", content=copy)
    with pytest.raises(UsageError, match="must be used together"):
        check(LocalFileSystem(), file="in/member")
    with pytest.raises(UsageError, match="require a URL or a callable as target"):
        resolve_any("splitter", {}, "in/member", copy)
