"""Calls of a filesystem's methods are observed, also those that its other methods make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.local import LocalFileSystem

from fscontract.contract.binding import MethodCall
from fscontract.contract.program.outcome import Kind
from fscontract.fakes.mutants.correct_filesystem import RightAsyncFilesystem, RightFilesystem
from fscontract.implementations.bindings.method_calls import observed_methods

_NAMES = ("cat", "cat_file", "info", "isfile", "open")


def _calls(fs: Any, method: str, *args: Any) -> list[MethodCall]:
    calls: list[MethodCall] = []
    with observed_methods(fs, _NAMES, calls.append):
        getattr(fs, method)(*args)
    return calls


def test_a_call_of_another_method_names_its_caller() -> None:
    fs = RightFilesystem()
    fs.pipe_file("/a", b"data")
    assert _calls(fs, "isfile", "/a") == [
        ("info", ("isfile",), Kind.RETURNED),
        ("isfile", (), Kind.RETURNED),
    ]


def test_coroutines_are_observed_in_the_thread_of_the_loop() -> None:
    fs = RightAsyncFilesystem(skip_instance_cache=True)
    fs.pipe_file("/a", b"data")
    assert ("cat_file", ("cat",), Kind.RETURNED) in _calls(fs, "cat", "/a")


def test_an_exception_has_its_kind() -> None:
    calls: list[MethodCall] = []
    fs = RightFilesystem()
    with observed_methods(fs, _NAMES, calls.append), pytest.raises(FileNotFoundError):
        fs.cat_file("/missing")
    assert calls == [("cat_file", (), Kind.NOT_FOUND)]


def test_an_object_is_left_unchanged(tmp_path: Path) -> None:
    fs = LocalFileSystem(skip_instance_cache=True)
    before = dict(vars(fs))
    (tmp_path / "a").write_bytes(b"data")
    assert _calls(fs, "cat", str(tmp_path / "a"))
    assert vars(fs) == before


class _Sealed:
    """An object that refuses attributes, and attributes that raise."""

    __slots__ = ()

    @property
    def cat(self) -> Any:
        raise ValueError("closed")

    def info(self) -> None:
        """Return nothing."""


def test_an_object_that_refuses_attributes_has_no_calls() -> None:
    assert _calls(_Sealed(), "info") == []
