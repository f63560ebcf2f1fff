"""Upload of this package to executors that don't have it.

Spark accepts zip files but not wheels, although a wheel is a zip file: a copy with the suffix .zip
works too, with `--py-files` or `addPyFile`. The dependencies (PyYAML, and obstore or boto3 for S3)
must be installed on the executors.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

from fscontract import contract

_KINDS = (".json", ".py", ".typed", ".yaml")


def ship(spark: Any) -> None:
    """Make the executors of a session import the fscontract of this process.

    Use it for executors without fscontract: a version that is installed or was sent before takes
    precedence.
    """
    if ".connect." in type(spark).__module__:
        spark.addArtifact(str(_archive()), pyfile=True)
    else:
        getattr(spark, "sparkContext", spark).addPyFile(str(_archive()))


@cache
def _archive() -> Path:
    """Return the archive of this process, kept until exit because executors may start later."""
    folder = tempfile.mkdtemp(prefix="fscontract-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return make_archive(Path(folder))


def make_archive(folder: Path) -> Path:
    """Create a zip file of the package in a directory."""
    archive = folder / f"fscontract-{contract.__version__}.zip"
    root = Path(contract.__path__[0]).parent
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for directory, folders, names in os.walk(root, followlinks=True):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in sorted(names):
                if name.endswith(_KINDS):
                    source = Path(directory, name)
                    file.write(source, Path("fscontract", source.relative_to(root)))
    return archive
