"""Executors without fscontract, and with what the driver sends them."""

from __future__ import annotations

import json
import os
import shlex
import sys
import sysconfig
from pathlib import Path

from fscontract.implementations.spark.failures import ExecutorException
from fscontract.implementations.spark.filesystem import SparkFileSystem
from fscontract.implementations.spark.session import local_session
from fscontract.implementations.spark.shipping import ship


def bare_python(folder: Path) -> Path:
    """A Python that finds what fscontract needs, but not fscontract."""
    packages = Path(sysconfig.get_path("purelib"))
    site = folder / "site"
    site.mkdir()
    for name in ("yaml", "_yaml"):
        if (packages / name).exists():
            (site / name).symlink_to(packages / name)
    command = folder / "python"
    command.write_text(
        f"#!/bin/sh\nPYTHONPATH={shlex.quote(str(site))}:$PYTHONPATH "
        f'exec {shlex.quote(sys.executable)} -S "$@"\n'
    )
    command.chmod(0o755)
    return command


def main(folder: str, wheel: str = "") -> None:
    """Read without the package, and then with a wheel, or the one that is imported here."""
    place = Path(folder)
    found = {}
    os.chdir(place)  # workers start here, and find what lies here
    with local_session(python=str(bare_python(place))) as spark:
        fs = SparkFileSystem(spark, (place / "data").as_uri())
        with fs.create("/a") as file:
            file.write(b"0123456789")
        try:
            fs.open("/a")
        except ExecutorException as error:
            found["without"] = str(error)
        if wheel:
            archive = place / "wheel.zip"
            archive.write_bytes(Path(wheel).read_bytes())
            spark.sparkContext.addPyFile(str(archive))
        else:
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
