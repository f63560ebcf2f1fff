"""Spark sessions for any master: on this machine, of a cluster, or of a Spark Connect server.

Local sessions print nothing and leave no files behind. PySpark's exceptions fetch their message
from the JVM each time they are printed. A session that ends because of an exception stops the JVM,
so the message is fetched first.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import secrets
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from fscontract.contract.binding import TargetError
from fscontract.contract.targets import UsageError
from fscontract.implementations.jvm.jvm import Java, find_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Methods with which a PySpark exception, and its query context, call the JVM.
_OF_ERRORS = (
    *("__str__", "getCondition", "getMessageParameters", "getSqlState", "getMessage"),
    *("getBreakingChangeInfo", "getQueryContext"),
)
_OF_CONTEXTS = (
    *("objectType", "objectName", "startIndex", "stopIndex", "fragment", "callSite", "summary"),
)


def keep_messages(error: BaseException) -> None:
    """Fetch the messages of an exception chain, and store them in the exceptions."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors.exceptions.captured import CapturedException

    for link in _chain(error, set()):
        if isinstance(link, CapturedException):
            _fix(link, _OF_ERRORS, str(link._desc))
        elif isinstance(link, Py4JJavaError):
            _fix(link, ("__str__",), str(link.errmsg))


def _chain(error: BaseException | None, seen: set[int]) -> Iterator[BaseException]:
    """Yield an exception, its causes and contexts, and the members of exception groups."""
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    yield error
    members: Iterable[BaseException] = getattr(error, "exceptions", ())
    for link in (error.__cause__, error.__context__, *members):
        yield from _chain(link, seen)


def _fix(error: Any, names: Iterable[str], otherwise: str = "") -> None:
    """Replace methods of an object by their current results; use `otherwise` on failure."""
    cls = type(error)
    values: dict[str, Any] = {"__str__": otherwise} if "__str__" in names else {}
    for name in names:
        if hasattr(cls, name):
            with suppress(Exception):  # the JVM may have ended
                values[name] = getattr(error, name)()
    for context in values.get("getQueryContext", ()):
        _fix(context, _OF_CONTEXTS)
    methods = {name: _returning(value) for name, value in values.items()}
    own = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
    error.__class__ = type(cls.__name__, (cls,), {**own, **methods})


def _returning(value: Any) -> Callable[[Any], Any]:
    return lambda self: value


#: Spark's launcher requires this module, even if the runtime lacks it.
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
    """Create an empty directory for a home; return it and the descriptor of its lock.

    Directories of killed processes are not locked any more, and are removed.
    """
    import fcntl  # not on Windows, where no such home is made

    for old in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        # another process removes it, or it belongs to another user
        with contextlib.suppress(OSError):
            descriptor = os.open(old / _LOCK, os.O_RDWR)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(old, ignore_errors=True)
            finally:
                os.close(descriptor)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    descriptor = os.open(folder / _UNLOCKED, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    (folder / _UNLOCKED).rename(folder / _LOCK)  # publish it only when it is locked
    return folder, descriptor


def make_home(folder: Path, java: Java | None = None) -> dict[str, str]:
    """Create a Spark home in an empty directory; return the environment variables for it.

    Raise TargetError without PySpark or Java 17.
    """
    spec = importlib.util.find_spec("pyspark")
    if spec is None or not spec.submodule_search_locations:
        raise TargetError("Spark requires the module 'pyspark'; pip install 'fscontract[spark]'")
    home, temporary = folder / "spark", folder / "tmp"
    for directory in (home, temporary):
        directory.mkdir()
    package = Path(spec.submodule_search_locations[0])
    library = home / "python" / "lib"
    library.mkdir(parents=True)
    for entry in (*package.iterdir(), *(package / "python").iterdir()):
        linked = home / entry.relative_to(package)
        if not linked.exists():
            linked.symlink_to(entry)
    _link_archives(library, package)
    (folder / "log4j2.properties").write_text(_SILENCE, encoding="utf-8")
    return {
        "JAVA_HOME": str(java_home(java or find_java(), folder / "java")),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_DIRS": str(temporary),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_HOSTNAME": "localhost",
    }


def _link_archives(library: Path, package: Path) -> None:
    """Fill the directory of the archives that workers import PySpark and Py4J from.

    Each archive is a directory with the installed package: a worker would compile the modules of an
    archive at each start, which takes a second.
    """
    for archive in (package / "python" / "lib").glob("*.zip"):
        name = archive.name.partition("-")[0].removesuffix(".zip")
        installed = package.parent / name
        if installed.is_dir():
            (library / archive.name).mkdir()
            (library / archive.name / name).symlink_to(installed)
        else:
            (library / archive.name).symlink_to(archive)


def java_home(java: Java, folder: Path) -> Path:
    """Return a Java home for Spark: the runtime's own, or `folder` with a `java` wrapper.

    The wrapper drops an argument that the runtime does not support.
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
    """Return JVM options of a home: quiet, quick to start, without leftover files."""
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
        raise TargetError(f"can't run Java of {java.source}: {error}") from error
    return said.stdout


#: Only on this machine, without web pages; each setting can be overridden.
_SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.master.rest.enabled": "false",
    "spark.master.ui.port": "0",
    "spark.python.unix.domain.socket.enabled": "true",  # reduces the time of tasks to a third
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.worker.ui.port": "0",
}
#: On other machines, with the defaults of the cluster and the user.
_OF_CLUSTER = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
#: Variables of a home that bind Spark to this machine.
_ALONE = ("SPARK_LOCAL_IP", "SPARK_LOCAL_HOSTNAME")
#: Settings passed at JVM start, visible in `ps`; others are set afterwards.
_AT_START = ("spark.driver.",)
#: Variables that PySpark sets in this process.
_OF_PYSPARK = ("SPARK_AUTH_SOCKET_TIMEOUT", "SPARK_BUFFER_SIZE")
_PATIENCE = 20.0
#: Socket paths have at most 104 characters: a longer directory leaves too few for the names.
_LONGEST = 50
_lock = threading.Lock()


@contextmanager
def local_session(
    master: str = "local[2]",
    settings: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    python: str = sys.executable,
) -> Iterator[SparkSession]:
    """Return a context with a local Spark session, which ends with all its processes.

    `master` is "local[2]", "local[2,4]" to try tasks up to four times, or "local-cluster[2,1,1024]"
    for executors in separate processes. `environment` has additional variables for executors; use
    it for secrets. Executors run `python`, by default this one. Files that Spark writes go to a
    directory that is removed.

    Raise TargetError without PySpark or Java 17, if this process has a session already, or if Spark
    does not start.
    """
    with _lock:
        machine = _Machine(master, {**_SETTINGS, **(settings or {})}, environment or {}, python)
    with _running(machine) as session:
        yield session


@contextmanager
def connect_session(
    master: str = "local[2]",
    settings: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    python: str = sys.executable,
) -> Iterator[Any]:
    """Return a context with a Spark Connect session, whose server runs in this process.

    Requires `pip install 'pyspark[connect]'`. Takes the arguments of `local_session`.
    """
    token = secrets.token_hex(16)
    serving = {
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.authenticate.token": token,
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",
    }
    with local_session(master, {**(settings or {}), **serving}, environment, python) as local:
        from pyspark.sql.connect.session import SparkSession

        service = "org.apache.spark.sql.connect.service.SparkConnectService$"
        jvm = local.sparkContext._jvm
        port = getattr(getattr(jvm, service), "MODULE$").localPort()
        session = SparkSession.builder.remote(f"sc://localhost:{port}/;token={token}").create()
        try:
            yield session
        finally:
            session.stop()


@contextmanager
def cluster_session(master: str) -> Iterator[SparkSession]:
    """Return a context with a session on a cluster, configured by SPARK_CONF_DIR.

    Executors run PYSPARK_PYTHON, or the interpreter at the path of this one. Raises as
    `local_session` does.
    """
    python = os.environ.get("PYSPARK_PYTHON", sys.executable)
    with _lock:
        machine = _Machine(master, _OF_CLUSTER, {}, python, alone=False)
    with _running(machine) as session:
        yield session


@contextmanager
def client_session(url: str) -> Iterator[Any]:
    """Return a context with a Spark Connect session on a running server; raise TargetError."""
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql.connect.session import SparkSession
    except ImportError as error:
        raise TargetError(f"Spark Connect: {error}; pip install 'pyspark[connect]'") from error
    try:
        session = SparkSession.builder.remote(url).create()
    except (PySparkException, OSError) as error:
        line = (str(error).splitlines() or [type(error).__name__])[0]
        raise TargetError(f"Spark Connect: {line[:300]}") from error
    try:
        yield session
    finally:
        session.stop()


@contextmanager
def _running(machine: _Machine) -> Iterator[SparkSession]:
    """Return a context with a machine's session; exceptions keep their messages."""
    try:
        yield machine.session
    except BaseException as error:
        keep_messages(error)
        raise
    finally:
        with _lock:
            machine.close()


class _Machine:
    """A running JVM with its session."""

    def __init__(
        self,
        master: str,
        settings: Mapping[str, str],
        environment: Mapping[str, str],
        python: str,
        alone: bool = True,
    ) -> None:
        self._alone = alone
        self._folder, self._in_use = new_folder()
        self._gateway: Any = None
        self._context: Any = None
        self.session: Any = None
        self._own = [name for name in _OF_PYSPARK if name not in os.environ]
        try:
            variables = {**make_home(self._folder), "PYSPARK_PYTHON": python}
            if not alone:
                variables = {n: v for n, v in variables.items() if n not in _ALONE}
            _check_free()
            if len(str(self._folder)) > _LONGEST:
                settings = {**settings, "spark.python.unix.domain.socket.enabled": "false"}
            with warnings.catch_warnings():
                # PySpark warns about a new pandas on import, even if it is not used.
                warnings.simplefilter("ignore", FutureWarning)
                self._start(master, settings, environment, variables)
        except BaseException:
            self.close()
            raise

    def _start(
        self,
        master: str,
        settings: Mapping[str, str],
        environment: Mapping[str, str],
        variables: Mapping[str, str],
    ) -> None:
        from py4j.protocol import Py4JError
        from pyspark import SparkConf, SparkContext
        from pyspark.errors import PySparkException
        from pyspark.java_gateway import launch_gateway
        from pyspark.sql import SparkSession

        options = java_options(self._folder)
        own = {"spark.driver.extraJavaOptions": options}
        if self._alone:
            own["spark.executor.extraJavaOptions"] = options
        early = SparkConf(loadDefaults=False)
        late = SparkConf(loadDefaults=False).setMaster(master).setAppName("fscontract")
        if self._alone:
            late.set("spark.local.dir", str(self._folder / "tmp"))
        late.set("spark.sql.warehouse.dir", str(self._folder / "tmp" / "warehouse"))
        both = own.keys() & settings.keys()  # if a Java option is set twice, the last one wins
        added = {name: f"{own[name]} {settings[name]}" for name in both}
        for name, value in {**own, **settings, **added}.items():
            if name.startswith(_AT_START):
                early.set(name, value)
            late.set(name, value)
        for name, value in environment.items():
            late.set(f"spark.executorEnv.{name}", value)
        log = self._folder / "stderr"
        with _variables(variables), log.open("wb") as stderr:
            try:
                output = {"stderr": stderr, "stdout": subprocess.DEVNULL}
                self._gateway = launch_gateway(early, output)
                conf = SparkConf(loadDefaults=not self._alone, _jvm=self._gateway.jvm)
                conf.setAll(late.getAll())
                self._context = SparkContext(conf=conf, gateway=self._gateway)
            except (OSError, PySparkException, Py4JError) as error:
                raise TargetError(f"Spark did not start: {_last_line(log, error)}") from error
            self.session = SparkSession(self._context)

    def close(self) -> None:
        """Stop the session and the JVM, and remove their files."""
        try:
            self._stop()
        finally:
            for name in self._own:
                os.environ.pop(name, None)
            shutil.rmtree(self._folder, ignore_errors=True)
            os.close(self._in_use)

    def _stop(self) -> None:
        gateway, self._gateway = self._gateway, None
        if gateway is None:
            return
        from pyspark import SparkContext
        from pyspark.sql import SparkSession

        if self._context is not None:
            (self.session or self._context).stop()  # an interrupt may have occurred between the two
        gateway.shutdown()
        process = gateway.proc
        process.stdin.close()  # the JVM ends when its input is closed
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        # These attributes would keep PySpark from starting another JVM.
        SparkContext._gateway = SparkContext._jvm = None
        SparkSession._instantiatedSession = None


def _check_free() -> None:
    from pyspark import SparkContext

    if SparkContext._active_spark_context is not None or SparkContext._gateway is not None:
        raise TargetError("this process has a Spark session already: use it, or stop it first")


def _last_line(log: Path, error: BaseException) -> str:
    """Return the last message of the JVM, or of the Python error, without Java's stack trace."""
    lines = [s for s in log.read_text("utf-8", "replace").splitlines() if "Error" in s]
    said = [s.strip(" :\t") for s in str(error).splitlines()]
    lines_shown = [s for s in said if s and not s.startswith(("at ", "... "))]
    return (lines or lines_shown or [type(error).__name__])[-1].strip()[:300]


@contextmanager
def _variables(values: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables of this process temporarily, because new processes inherit them."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


_LOCAL = re.compile(r"local(\[(\d+|\*)(, ?\d+)?\]|-cluster\[\d+, ?\d+, ?\d+\])?")
_CLUSTER = re.compile(r"(spark://.+|yarn|k8s://.+)")
_CLIENT = re.compile(r"sc://.+")
_KNOWN = "local[2], local-cluster[2,1,1024], spark://HOST:PORT, yarn, k8s://... or sc://HOST:PORT"
#: Timeout in seconds for connecting to an address; Spark itself would try for a minute or more.
_CONNECT_PATIENCE = 5.0


def is_local(master: str) -> bool:
    """Return True if executors run on this machine."""
    return _LOCAL.fullmatch(master) is not None


def session_of(
    master: str,
    settings: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> AbstractContextManager[Any]:
    """Return a context with a session; raise UsageError for an invalid master, TargetError.

    `settings` are for a driver on this machine. `environment` has credentials for executors, which
    only a local session accepts: on a cluster they belong to the executors' own environment.
    """
    if is_local(master):
        return local_session(master, settings, environment)
    if environment:
        raise UsageError(
            f"credentials can't be options with --spark {without_secrets(master)}: executors find "
            "them in their environment, in files of the library, or in a role"
        )
    if _CLIENT.fullmatch(master):
        _reach(master)
        return client_session(master)
    if not _CLUSTER.fullmatch(master):
        raise UsageError(
            f"invalid value for --spark: {without_secrets(master)!r:.80}; expected {_KNOWN}"
        )
    if master.startswith("spark://"):
        _reach(master)
    return cluster_session(master)


def without_secrets(master: str) -> str:
    """Return the master without secrets, such as the token of sc://host:port/;token=..."""
    parts = urlsplit(master)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}" if "://" in master else master


def _reach(master: str) -> None:
    """Raise TargetError unless a server listens at one of the master's addresses."""
    addresses = urlsplit(master).netloc.rpartition("@")[2].split(",")
    why: Exception | None = None
    for address in addresses:
        host, _, port = address.partition(":")
        try:
            number = int(port) if port else 15002
            socket.create_connection((host, number), _CONNECT_PATIENCE).close()
        except (OSError, ValueError, OverflowError) as error:
            why = error
        else:
            return
    raise TargetError(f"{without_secrets(master)}: can't connect to Spark: {why}")
