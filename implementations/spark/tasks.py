"""Run a function on executors, in classic sessions and in Spark Connect."""

from __future__ import annotations

import builtins
import pickle
import secrets
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

from fscontract.contract import __version__
from fscontract.contract.api.errors import PathIOException
from fscontract.implementations.spark import executor_entry

_OURS = "fscontract."
_BUILTIN = "builtins"


class ExecutorException(PathIOException, ConnectionError):
    """Executors could not run the task, whatever it was to read: nothing is known of the file."""


class Failure(NamedTuple):
    """An exception: its class, what it says, and the path it is about."""

    module: str
    name: str
    message: str
    path: str | None = None


def failure_of(error: BaseException) -> Failure:
    """An exception as data."""
    cls = type(error)
    return Failure(cls.__module__, cls.__qualname__, str(error), getattr(error, "path", None))


def error_of(failure: Failure, path: str = "") -> Exception:
    """An exception like the one that was raised; PathIOException on `path` for foreign classes."""
    cls = _class_of(failure)
    made = None if cls is None else _like(cls, failure, path)
    if made is not None:
        return made
    said = f"{failure.name}: {failure.message}" if failure.message else failure.name
    return PathIOException(failure.path or path, said)


def _like(cls: type[Exception], failure: Failure, path: str) -> Exception | None:
    """An exception of the class that says the same; None if it is not made of a message."""
    if issubclass(cls, PathIOException):
        error = cls.__new__(cls)  # the path is in the message already
        error.args = (failure.message,)
        error.path = failure.path or path
        return error
    try:
        return cls(failure.message)
    except TypeError:
        return None


def _class_of(failure: Failure) -> type[Exception] | None:
    """The class if it is ours, or one of Python's own."""
    if failure.module == _BUILTIN:
        found = getattr(builtins, failure.name, None)
    elif failure.module.startswith(_OURS):
        found = getattr(import_module(failure.module), failure.name, None)
    else:
        return None
    return found if isinstance(found, type) and issubclass(found, Exception) else None


#: Of one slice, as `entry.run_slice` has it.
Answer: TypeAlias = tuple[str, str, Any]
T = TypeVar("T")
R = TypeVar("R")
#: How many jobs a driver has running at the same time.
JOBS = 8
_CURE = (
    "install the same fscontract there, or send this one: "
    "fscontract.implementations.spark.package_upload.ship(spark)"
)


class Tasks(ABC):
    """Calls functions on the executors of one session.

    A function and its items are pickled by cloudpickle, results by pickle. An exception of the
    function is raised here again: our own classes and Python's as such, others as PathIOException.
    ExecutorException if tasks could not be run, or failed as often as Spark tries.
    """

    def __init__(self, jobs: int = JOBS) -> None:
        self._most = jobs
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._jobs: WeakKeyDictionary[Future[Any], str] = WeakKeyDictionary()

    @property
    @abstractmethod
    def parallelism(self) -> int:
        """How many tasks run side by side."""

    @abstractmethod
    def _collect(self, slices: list[bytes]) -> list[Answer]:
        """What `entry.run_slice` gives for each slice, in this order, from a job of its own."""

    @abstractmethod
    def _name(self, job: str, description: str) -> None:
        """Give the jobs that this thread will start a name to cancel them by."""

    @abstractmethod
    def _cancel(self, job: str) -> None:
        """Have Spark end the job of this name, and its tasks."""

    def running(self, future: Future[Any]) -> int | None:
        """How many tasks of a job run now; None if Spark does not tell."""
        return None

    def map(
        self, function: Callable[[T], R], items: Sequence[T], slices: int | None = None
    ) -> list[R]:
        """What the function gives for each item, in this order, from one job of `slices` tasks.

        By default there are as many tasks as run side by side. The first exception is raised. The
        job is cancelled if the wait for it is interrupted.
        """
        future = self.submit(function, items, slices)
        try:
            return future.result()
        finally:
            if not future.done():
                self.cancel(future)

    def submit(
        self,
        function: Callable[[T], R],
        items: Sequence[T],
        slices: int | None = None,
        description: str = "fscontract",
    ) -> Future[list[R]]:
        """`map`, whose result is waited for by whoever wants it.

        A job goes out from a thread of its own: what interrupts the one that waits must not break
        off a conversation with the Java machine. `description` is what Spark shows of it.
        """
        job = f"fscontract-{secrets.token_hex(8)}"
        future = self._threads().submit(self._map, function, items, slices, job, description)
        with self._lock:
            self._jobs[future] = job
        return future

    def cancel(self, future: Future[Any]) -> None:
        """End a job that was submitted, whether it runs already; its future fails then."""
        with self._lock:
            job = self._jobs.get(future)
        if job is not None and not future.cancel() and not future.done():
            self._cancel(job)

    def warm_up(self) -> None:
        """Have executors start their workers: the first task takes seconds. ExecutorException."""
        self.map(_nothing, range(2 * self.parallelism), self.parallelism)

    def close(self) -> None:
        """End the threads, after the jobs that are running; a later call makes new ones."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown()

    def _threads(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._most, thread_name_prefix="fscontract-spark")
            return self._pool

    def _map(
        self,
        function: Callable[[Any], R],
        items: Sequence[Any],
        slices: int | None,
        job: str,
        description: str,
    ) -> list[R]:
        if not items:
            return []
        self._name(job, description)
        count = max(1, min(len(items), slices or self.parallelism))
        bounds = [len(items) * i // count for i in range(count + 1)]
        parts = [items[a:b] for a, b in pairwise(bounds)]
        answers = self._collect([_dumps((function, list(part))) for part in parts])
        results: list[R] = []
        for answer in answers:
            results += _results(answer)
        return results


def _nothing(_: int) -> None:
    """The task of `warm_up`."""


def _results(answer: Answer) -> list[Any]:
    """What came of one slice; raises what the function raised."""
    state, where, what = answer
    if state != "done":
        raise ExecutorException(
            where, f"this is fscontract {__version__}, the executor has {what}; {_CURE}"
        )
    results = []
    for done, value in pickle.loads(what):  # noqa: S301 - from our own task, by way of Spark
        if not done:
            raise error_of(value)
        results.append(value)
    return results


def _dumps(value: object) -> bytes:
    from pyspark import cloudpickle

    data: bytes = cloudpickle.dumps(value)
    return data


class RddTasks(Tasks):
    """Tasks of a SparkContext: RDDs cost least."""

    def __init__(self, context: Any, jobs: int = JOBS) -> None:
        super().__init__(jobs)
        self._context = context
        self._rows: dict[int, Any] = {}

    @property
    def parallelism(self) -> int:
        """As Spark has it: the cores of the executors."""
        return max(1, int(self._context.defaultParallelism))

    def running(self, future: Future[Any]) -> int | None:
        """As the status tracker has it."""
        with self._lock:
            job = self._jobs.get(future)
        if job is None or future.done():
            return 0
        tracker = self._context.statusTracker()
        jobs = map(tracker.getJobInfo, tracker.getJobIdsForGroup(job))
        stages = [tracker.getStageInfo(s) for found in jobs if found for s in found.stageIds]
        return sum(int(stage.numActiveTasks) for stage in stages if stage)

    def _name(self, job: str, description: str) -> None:
        self._context.setJobGroup(job, description, interruptOnCancel=True)

    def _cancel(self, job: str) -> None:
        self._context.cancelJobGroup(job)

    def _collect(self, slices: list[bytes]) -> list[Answer]:
        count = len(slices)
        call = partial(executor_entry.run_slice, __version__, slices)
        with _one_line():
            rows = self._rows.get(count)
            if rows is None:
                rows = self._rows[count] = self._context.parallelize(range(count), count)
            answers: list[Answer] = rows.mapPartitionsWithIndex(call).collect()
        return answers


class DataFrameTasks(Tasks):
    """Tasks of a session without SparkContext, as those of Spark Connect are.

    They take ten times as long as others, and pandas beside PyArrow.
    """

    def __init__(self, session: Any, jobs: int = JOBS) -> None:
        super().__init__(jobs)
        self._session = session

    @property
    def parallelism(self) -> int:
        """The server's setting, or else 2: a client is not told how many cores there are."""
        return int(self._session.conf.get("spark.sql.leafNodeDefaultParallelism", None) or 2)

    def _name(self, job: str, description: str) -> None:
        self._session.clearTags()
        self._session.addTag(job)

    def _cancel(self, job: str) -> None:
        self._session.interruptTag(job)

    def _collect(self, slices: list[bytes]) -> list[Answer]:
        count = len(slices)
        call = partial(executor_entry.run_batches, __version__, slices)
        with _one_line():
            rows = self._session.range(0, count, 1, count)
            schema = "index long, state string, place string, data binary"
            found = rows.mapInArrow(call, schema).toArrow().to_pylist()
        found.sort(key=itemgetter("index"))
        return [
            (
                row["state"],
                row["place"],
                row["data"] if row["state"] == "done" else str(row["data"], "utf-8"),
            )
            for row in found
        ]


@contextmanager
def _one_line() -> Iterator[None]:
    """ExecutorException for whatever Spark raises."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException, OSError) as error:
        raise job_failure(error) from error


def job_failure(error: BaseException) -> ExecutorException:
    """What Spark says of a job that failed, in one line."""
    java = getattr(error, "java_exception", None)
    text = str(java.getMessage() if java is not None else error) or type(error).__name__
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = [s for s in lines if not s.startswith(("at ", "File ", "Traceback", "Driver stack"))]
    first = (said or [type(error).__name__])[0]
    cause = next((s for s in reversed(said) if "Error: " in s or "Exception: " in s), "")
    shown = first if cause in first else f"{first} ... {cause}"
    return ExecutorException("Spark", f"the job failed: {shown[:600]}")


def tasks_of(spark: Any, jobs: int = JOBS) -> Tasks:
    """The tasks of a SparkContext, or a session, of Spark Connect or not; `jobs` at a time."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(executor_entry)
    if ".connect." in type(spark).__module__:
        return DataFrameTasks(spark, jobs)
    return RddTasks(getattr(spark, "sparkContext", spark), jobs)
