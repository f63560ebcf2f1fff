"""A home of Spark in a temporary directory: that of PySpark by links, and a Java that Spark starts.

What Spark writes goes below it, so that it is gone with it: an executor's working directory is
`work` in the home, which would else lie among the installed packages.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from fscontract.contract.binding import TargetError
from fscontract.implementations.jvm.java import Java, find_java

#: Spark's launcher asks for this module, whether the runtime has it or not.
_MODULE = "jdk.incubator.vector"
_PREFIX = "fscontract-spark-"
_LOCK, _UNLOCKED = "lock", "unlocked"
_WRAPPER = """#!/bin/sh
for argument; do
  shift
  case $argument in
    --add-modules={module}) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec {java} "$@"
"""
_SILENCE = """rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %c{1}: %m%n
"""


def new_folder() -> tuple[Path, int]:
    """An empty directory for a home, and the descriptor whose lock says that it is in use.

    Those of processes that were killed have no lock any more, and are removed.
    """
    import fcntl  # not on Windows, where there is no such home either

    for old in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # another one removes it, or it is another user's
            descriptor = os.open(old / _LOCK, os.O_RDWR)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(old, ignore_errors=True)
            finally:
                os.close(descriptor)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    descriptor = os.open(folder / _UNLOCKED, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    (folder / _UNLOCKED).rename(folder / _LOCK)  # it is never seen without its lock
    return folder, descriptor


def make_home(folder: Path, java: Java | None = None) -> dict[str, str]:
    """Make a home of Spark in an empty directory; the variables that lead to it.

    TargetError without PySpark, or without Java 17.
    """
    spec = importlib.util.find_spec("pyspark")
    if spec is None or not spec.submodule_search_locations:
        raise TargetError("Spark needs the module 'pyspark'; pip install 'fscontract[spark]'")
    home, temporary = folder / "spark", folder / "tmp"
    for place in (home, temporary):
        place.mkdir()
    for entry in Path(spec.submodule_search_locations[0]).iterdir():
        (home / entry.name).symlink_to(entry)
    (folder / "log4j2.properties").write_text(_SILENCE, encoding="utf-8")
    return {
        "JAVA_HOME": str(java_home(java or find_java(), folder / "java")),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_DIRS": str(temporary),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_HOSTNAME": "localhost",
    }


def java_home(java: Java, folder: Path) -> Path:
    """Where Spark finds Java: in its own home, or in `folder`, which gets a `java` for Spark.

    That one leaves out an argument which the runtime does not know.
    """
    if _MODULE in _modules(java):
        return java.home
    wrapper = folder / "bin" / "java"
    wrapper.parent.mkdir(parents=True)
    text = _WRAPPER.format(module=_MODULE, java=shlex.quote(str(java.executable)))
    wrapper.write_text(text, encoding="utf-8")
    wrapper.chmod(0o755)
    return folder


def java_options(folder: Path) -> str:
    """Options of the Java machines of a home: quiet, quick to start, nothing left behind."""
    return " ".join(
        (
            f"-Dlog4j2.configurationFile={(folder / 'log4j2.properties').as_uri()}",
            f"-Djava.io.tmpdir={folder / 'tmp'}",
            f"-Dderby.system.home={folder / 'tmp'}",
            "-XX:+UseSerialGC",
            "-XX:-UsePerfData",
            "-XX:TieredStopAtLevel=1",
        )
    )


def _modules(java: Java) -> str:
    try:
        said = subprocess.run(  # noqa: S603 - the user's own Java
            [os.fspath(java.executable), "--list-modules"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TargetError(f"Java of {java.source} does not run: {error}") from error
    return said.stdout
