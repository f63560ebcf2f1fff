"""Tests that exceptions survive the conversion to data and back."""

from __future__ import annotations

import pytest

from fscontract.contract.api.errors import (
    AccessControlException,
    EOFException,
    FileNotFoundException,
    IllegalArgumentException,
    PathIOException,
    RemoteFileChangedException,
)
from fscontract.implementations.s3.errors import ObjectLocation, ThrottledException
from fscontract.implementations.spark.failures import Failure, error_of, failure_of


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundException("/a", "no such file"),
        RemoteFileChangedException("/a", "another one"),
        AccessControlException("/a", "permission denied"),
        ThrottledException(ObjectLocation("bucket", "a"), "busy"),
        EOFException("the end"),
        IllegalArgumentException("no number"),
        FileNotFoundError(2, "No such file or directory"),
        KeyError("key"),
    ],
    ids=lambda e: type(e).__name__,
)
def test_own_and_builtin_exceptions_keep_class_message_and_path(error: Exception) -> None:
    found = error_of(failure_of(error))
    assert type(found) is type(error)
    assert str(found).strip("'\"") == str(error).strip("'\"")
    assert getattr(found, "path", None) == getattr(error, "path", None)


@pytest.mark.parametrize(
    ("module", "name"),
    [("botocore.exceptions", "ClientError"), ("builtins", "eval"), ("builtins", "SystemExit"),
     ("builtins", "UnicodeDecodeError"), ("fscontract.contract.api.errors", "io")],
)  # fmt: skip
def test_foreign_classes_become_path_io_exceptions(module: str, name: str) -> None:
    """Only exception classes are looked up by a received name."""
    error = error_of(Failure(module, name, "went wrong"), "/a")
    assert type(error) is PathIOException
    assert str(error) == f"{name}: went wrong: '/a'"
