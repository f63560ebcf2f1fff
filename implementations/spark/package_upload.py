"""Sending this very package to executors that don't have it.

Spark takes zip files, and no wheels by that name, though a wheel is one: a copy of it that is
called .zip will do as well, by `--py-files` or `addPyFile`. What the package needs (PyYAML, and
obstore or boto3 for S3) has to be there.
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
    """Have the executors of a session import the fscontract that this process has.

    It is for executors that have none: one that is installed there, or was sent before, stays.
    """
    if ".connect." in type(spark).__module__:
        spark.addArtifact(str(_archive()), pyfile=True)
    else:
        getattr(spark, "sparkContext", spark).addPyFile(str(_archive()))


@cache
def _archive() -> Path:
    """The archive of this process, which is there until it ends: executors may come later."""
    folder = tempfile.mkdtemp(prefix="fscontract-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return make_archive(Path(folder))


def make_archive(folder: Path) -> Path:
    """A zip file of the package in a folder."""
    archive = folder / f"fscontract-{contract.__version__}.zip"
    root = Path(contract.__path__[0]).parent
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for place, folders, names in os.walk(root, followlinks=True):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in sorted(names):
                if name.endswith(_KINDS):
                    source = Path(place, name)
                    file.write(source, Path("fscontract", source.relative_to(root)))
    return archive
