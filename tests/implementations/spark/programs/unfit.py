"""Executors without fscontract, and with an uploaded package."""

from __future__ import annotations

import json
import os
import shlex
import sys
import sysconfig
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from fscontract.implementations.spark.filesystem import SparkFileSystem
from fscontract.implementations.spark.package_upload import ship
from fscontract.implementations.spark.session import connect_session, local_session
from fscontract.implementations.spark.tasks import ExecutorException

#: Dependencies of fscontract for local files, and of PySpark for Arrow batches.
NEEDED = ("yaml", "_yaml", "pyarrow", "pandas", "numpy", "numpy.libs", "dateutil", "pytz", "six.py")


def bare_python(folder: Path) -> Path:
    """Return a Python that has the dependencies of fscontract, but not fscontract."""
    packages = Path(sysconfig.get_path("purelib"))
    site = folder / "site"
    site.mkdir()
    for name in NEEDED:
        if (packages / name).exists():
            (site / name).symlink_to(packages / name)
    command = folder / "python"
    command.write_text(
        f"#!/bin/sh\nPYTHONPATH={shlex.quote(str(site))}:$PYTHONPATH "
        f'exec {shlex.quote(sys.executable)} -S "$@"\n'
    )
    command.chmod(0o755)
    return command


def session_of(how: str, python: str, archive: Path) -> AbstractContextManager[Any]:
    """Return a session whose executors run this Python, with the archive as `--py-files` if so."""
    if how == "connect":
        return connect_session(python=python)
    settings = {"spark.submit.pyFiles": str(archive)} if how == "py-files" else {}
    return local_session(settings=settings, python=python)


def main(folder: str, how: str, wheel: str = "") -> None:
    """Read without the package, and then with a wheel, or the package imported here.

    `how` is `--py-files`, "wheel" for addPyFile, "ship" or "connect".
    """
    place = Path(folder)
    found = {}
    archive = place / "wheel.zip"
    if wheel:
        archive.write_bytes(Path(wheel).read_bytes())
    # executors inherit it, and would find the package through it
    os.environ.pop("PYTHONPATH", None)
    os.chdir(place)  # workers start here and could import files from here
    with session_of(how, str(bare_python(place)), archive) as spark:
        fs = SparkFileSystem(spark, (place / "data").as_uri())
        with fs.create("/a") as file:
            file.write(b"0123456789")
        if how != "py-files":
            try:
                fs.open("/a")
            except ExecutorException as error:
                found["without"] = str(error)
        if how == "wheel":
            spark.sparkContext.addPyFile(str(archive))
        elif how != "py-files":
            ship(spark)
        opening = fs.open_file("/a").opt("fs.option.openfile.read.policy", "random")
        with opening.build().result() as stream:
            found["with"] = stream.as_file().read().decode()
        found["from"] = fs.tasks.map(_where, [1])[0]
        fs.close()
    print(json.dumps(found))


def _where(_: int) -> str:
    import fscontract

    return str(fscontract.__file__)


if __name__ == "__main__":
    main(*sys.argv[1:])
