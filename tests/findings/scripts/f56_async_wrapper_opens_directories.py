"""F56: AsyncFileSystemWrapper opens directories."""

import tempfile

from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
from fsspec.implementations.local import LocalFileSystem

fs = AsyncFileSystemWrapper(LocalFileSystem(), asynchronous=False)
with tempfile.TemporaryDirectory() as directory:
    try:
        file = fs.open(directory)
    except IsADirectoryError:  # expected, as LocalFileSystem.open raises
        raise SystemExit("fixed") from None
    try:
        file.read(1)
    except IsADirectoryError:
        pass
    else:
        raise AssertionError
