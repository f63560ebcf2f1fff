"""Hadoop's exceptions are also the built-in ones that a Python caller catches."""

from __future__ import annotations

import io

import pytest

from fscontract.contract.api import errors


@pytest.mark.parametrize(
    ("error", "built_in"),
    [
        (errors.EOFException, EOFError),
        (errors.EOFException, OSError),
        (errors.IllegalArgumentException, ValueError),
        (errors.NullPointerException, TypeError),
        (errors.IndexOutOfBoundsException, IndexError),
        (errors.UnsupportedOperationException, NotImplementedError),
        (errors.UnsupportedOperationException, io.UnsupportedOperation),
        (errors.PathIOException, OSError),
        (errors.FileNotFoundException, FileNotFoundError),
        (errors.FileAlreadyExistsException, FileExistsError),
        (errors.AccessControlException, PermissionError),
        (errors.InterruptedIOException, OSError),
    ],
)
def test_exception_is_caught_as_its_built_in_one(
    error: type[Exception], built_in: type[Exception]
) -> None:
    assert issubclass(error, built_in)


def test_exception_of_a_path_has_path_and_message() -> None:
    error = errors.FileNotFoundException("/a b", "no such file")
    assert error.path == "/a b"
    assert str(error) == "no such file: '/a b'"
