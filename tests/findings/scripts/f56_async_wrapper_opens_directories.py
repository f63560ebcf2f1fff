"""F56: AsyncFileSystemWrapper opens directories."""

import tempfile

from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
from fsspec.implementations.local import LocalFileSystem

fs = AsyncFileSystemWrapper(LocalFileSystem(), asynchronous=False)
with tempfile.TemporaryDirectory() as directory:
    try:
        seen = fs.open(directory)
    except Exception as error:
        seen = error

assert isinstance(seen, OSError), repr(seen)
