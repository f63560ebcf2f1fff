"""F59: glob of a pattern that ends with a slash through DirFileSystem and ArrowFSWrapper."""

import tempfile
from pathlib import Path

from fsspec.implementations.arrow import ArrowFSWrapper
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from pyarrow.fs import LocalFileSystem as ArrowLocal

root = tempfile.mkdtemp()
Path(root, "sub").mkdir()
Path(root, "file").write_bytes(b"data")
found = {
    "directory": DirFileSystem(root, LocalFileSystem()).glob("*/"),
    "arrow": [Path(one).name for one in ArrowFSWrapper(ArrowLocal()).glob(f"{root}/*/")],
}

assert found == {"directory": ["sub"], "arrow": ["sub"]}, found
