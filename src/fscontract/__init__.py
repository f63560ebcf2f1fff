"""Executable specification and conformance test kit for Hadoop's input streams and openFile().

`check` runs the suite on a filesystem and returns its result; `conformance` makes a pytest test
for each clause. The reference filesystems, Hadoop's interfaces and `open_file` for fsspec are here,
too. Everything is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fscontract import blockreader as blockreader
    from fscontract import errors as errors
    from fscontract import fakes as fakes
    from fscontract import hudi as hudi
    from fscontract import java as java
    from fscontract import options as options
    from fscontract import scenarios as scenarios
    from fscontract import spark as spark
    from fscontract import splitter as splitter
    from fscontract.contract import __version__ as __version__
    from fscontract.contract.api.filesystem import ByteBuffer as ByteBuffer
    from fscontract.contract.api.filesystem import FileRange as FileRange
    from fscontract.contract.api.filesystem import FileStatus as FileStatus
    from fscontract.contract.api.filesystem import FileSystem as FileSystem
    from fscontract.contract.api.filesystem import FSDataInputStream as FSDataInputStream
    from fscontract.contract.binding import Binding as Binding
    from fscontract.contract.binding import TargetError as TargetError
    from fscontract.contract.check import check as check
    from fscontract.contract.pytest_plugin import conformance as conformance
    from fscontract.contract.runner.result import ClauseResult as ClauseResult
    from fscontract.contract.runner.result import Counterexample as Counterexample
    from fscontract.contract.runner.result import RunResult as RunResult
    from fscontract.contract.runner.result import RunVerdict as RunVerdict
    from fscontract.contract.runner.result import Verdict as Verdict
    from fscontract.contract.targets import UsageError as UsageError
    from fscontract.implementations.bindings.python_file import (
        PythonFileBinding as PythonFileBinding,
    )
    from fscontract.implementations.fsspec_filesystem import FsspecFileSystem as FsspecFileSystem
    from fscontract.implementations.fsspec_open_file import open_file as open_file
    from fscontract.implementations.local import LocalFileSystem as LocalFileSystem
    from fscontract.implementations.local_stream import LocalInputStream as LocalInputStream
    from fscontract.implementations.memory import MemoryFileSystem as MemoryFileSystem
    from fscontract.implementations.memory import MemoryInputStream as MemoryInputStream
    from fscontract.implementations.s3.filesystem import S3FileSystem as S3FileSystem
    from fscontract.implementations.spark.filesystem import SparkFileSystem as SparkFileSystem

__all__ = [
    "Binding",
    "ByteBuffer",
    "ClauseResult",
    "Counterexample",
    "FSDataInputStream",
    "FileRange",
    "FileStatus",
    "FileSystem",
    "FsspecFileSystem",
    "LocalFileSystem",
    "LocalInputStream",
    "MemoryFileSystem",
    "MemoryInputStream",
    "PythonFileBinding",
    "RunResult",
    "RunVerdict",
    "S3FileSystem",
    "SparkFileSystem",
    "TargetError",
    "UsageError",
    "Verdict",
    "blockreader",
    "check",
    "conformance",
    "errors",
    "fakes",
    "hudi",
    "java",
    "open_file",
    "options",
    "scenarios",
    "spark",
    "splitter",
]

#: The module that defines each lazily imported name.
_SOURCES = {
    "__version__": "contract",
    "Binding": "contract.binding",
    "ByteBuffer": "contract.api.filesystem",
    "ClauseResult": "contract.runner.result",
    "Counterexample": "contract.runner.result",
    "FSDataInputStream": "contract.api.filesystem",
    "FileRange": "contract.api.filesystem",
    "FileStatus": "contract.api.filesystem",
    "FileSystem": "contract.api.filesystem",
    "FsspecFileSystem": "implementations.fsspec_filesystem",
    "LocalFileSystem": "implementations.local",
    "LocalInputStream": "implementations.local_stream",
    "MemoryFileSystem": "implementations.memory",
    "MemoryInputStream": "implementations.memory",
    "PythonFileBinding": "implementations.bindings.python_file",
    "RunResult": "contract.runner.result",
    "RunVerdict": "contract.runner.result",
    "S3FileSystem": "implementations.s3.filesystem",
    "SparkFileSystem": "implementations.spark.filesystem",
    "TargetError": "contract.binding",
    "UsageError": "contract.targets",
    "Verdict": "contract.runner.result",
    "check": "contract.check",
    "conformance": "contract.pytest_plugin",
    "open_file": "implementations.fsspec_open_file",
}


def __getattr__(name: str) -> Any:
    if name in _SOURCES:
        value = getattr(import_module(f"fscontract.{_SOURCES[name]}"), name)
    elif name in __all__:
        value = import_module(f"fscontract.{name}")
    else:
        raise AttributeError(f"module 'fscontract' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
