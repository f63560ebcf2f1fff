"""Function calls on executors, through classic sessions or Spark Connect."""

from __future__ import annotations

import pickle
import secrets
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from operator import itemgetter
from typing import Any, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

from fscontract.contract import __version__
from fscontract.contract.api.errors import PathIOException
from fscontract.implementations.spark import executor_entry
from fscontract.implementations.spark.failures import error_of


class ExecutorException(PathIOException, ConnectionError):
    """Executors could not run the task; this says nothing about the file."""


#: Result of one slice, as `executor_entry.run_slice` yields it.
Answer: TypeAlias = tuple[str, str, Any]
T = TypeVar("T")
R = TypeVar("R")
#: Maximum number of concurrent jobs of a driver.
JOBS = 8
_CURE = "install the same version there, or upload this one: fscontract.spark.ship(spark)"


class Tasks(ABC):
    """Calls functions on the executors of one session.

    A function and its items are pickled by cloudpickle, results by pickle. Exceptions of the
    function are raised again in the driver: fscontract's and Python's classes unchanged, others as
    PathIOException. Raise ExecutorException if tasks could not run, or failed in all of Spark's
    attempts.
    """

    def __init__(self, jobs: int = JOBS) -> None:
        self._max_jobs = jobs
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._jobs: WeakKeyDictionary[Future[Any], str] = WeakKeyDictionary()

    @property
    @abstractmethod
    def parallelism(self) -> int:
        """Number of tasks that run concurrently."""

    @abstractmethod
    def _collect(self, slices: list[bytes]) -> list[Answer]:
        """Run `executor_entry.run_slice` for each slice in one job; return the results in order."""

    @abstractmethod
    def _name(self, job: str, description: str) -> None:
        """Name the jobs that this thread will start, so that they can be cancelled."""

    @abstractmethod
    def _cancel(self, job: str) -> None:
        """Cancel the job with this name, and its tasks."""

    def running(self, future: Future[Any]) -> int | None:
        """Return the number of running tasks of a job; None if Spark does not report it."""
        return None

    def map(
        self, function: Callable[[T], R], items: Sequence[T], slices: int | None = None
    ) -> list[R]:
        """Return the function's result for each item, in order, from one job of `slices` tasks.

        By default the number of tasks is the parallelism. Raise the first exception. Interrupting
        the call cancels the job.
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
        """Start `map` in the background; return a future of its result.

        A separate thread submits the job, so that an interrupt of the waiting thread does not break
        the communication with the JVM. Spark shows the `description`.
        """
        job = f"fscontract-{secrets.token_hex(8)}"
        future = self._threads().submit(self._map, function, items, slices, job, description)
        with self._lock:
            self._jobs[future] = job
        return future

    def cancel(self, future: Future[Any]) -> None:
        """Cancel a submitted job, even if it is running; its future fails."""
        with self._lock:
            job = self._jobs.get(future)
        if job is not None and not future.cancel() and not future.done():
            self._cancel(job)

    def warm_up(self) -> None:
        """Start the executors' workers, as that takes seconds; raise ExecutorException."""
        self.map(_nothing, range(2 * self.parallelism), self.parallelism)

    def close(self) -> None:
        """Stop the threads after their running jobs. A later call makes new ones."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown()

    def _threads(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(
                    self._max_jobs, thread_name_prefix="fscontract-spark"
                )
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
    """Task of `warm_up`, which does nothing."""


def _results(answer: Answer) -> list[Any]:
    """Return the results of one slice; raise the function's exception."""
    state, where, what = answer
    if state != "done":
        raise ExecutorException(
            where,
            f"executors must have fscontract {__version__}, got {what}; {_CURE}",
        )
    results = []
    for done, value in pickle.loads(what):  # noqa: S301 - from our own task, through Spark
        if not done:
            raise error_of(value)
        results.append(value)
    return results


def _dumps(value: object) -> bytes:
    from pyspark import cloudpickle

    data: bytes = cloudpickle.dumps(value)
    return data


class RddTasks(Tasks):
    """Tasks of a SparkContext as RDDs, the cheapest kind of task."""

    def __init__(self, context: Any, jobs: int = JOBS) -> None:
        super().__init__(jobs)
        self._context = context
        self._rows: dict[int, Any] = {}

    @property
    def parallelism(self) -> int:
        """Spark's default parallelism: the number of executor cores."""
        return max(1, int(self._context.defaultParallelism))

    def running(self, future: Future[Any]) -> int | None:
        """Return the number of running tasks from the status tracker."""
        with self._lock:
            job = self._jobs.get(future)
        if job is None or future.done():
            return 0
        tracker = self._context.statusTracker()
        jobs = map(tracker.getJobInfo, tracker.getJobIdsForGroup(job))
        stages = [tracker.getStageInfo(s) for info in jobs if info for s in info.stageIds]
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
    """Tasks of a session without SparkContext, such as Spark Connect.

    They take ten times as long as RDD tasks, and require pandas in addition to PyArrow.
    """

    def __init__(self, session: Any, jobs: int = JOBS) -> None:
        super().__init__(jobs)
        self._session = session

    @property
    def parallelism(self) -> int:
        """The server's setting, or 2, because a client can't query the number of cores."""
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
            rows_found = rows.mapInArrow(call, schema).toArrow().to_pylist()
        rows_found.sort(key=itemgetter("index"))
        return [
            (
                row["state"],
                row["place"],
                row["data"] if row["state"] == "done" else str(row["data"], "utf-8"),
            )
            for row in rows_found
        ]


@contextmanager
def _one_line() -> Iterator[None]:
    """Convert any Spark exception to ExecutorException."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException, OSError) as error:
        raise job_failure(error) from error


def job_failure(error: BaseException) -> ExecutorException:
    """Return an exception with Spark's message about a failed job, on one line."""
    java = getattr(error, "java_exception", None)
    text = str(java.getMessage() if java is not None else error) or type(error).__name__
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = [s for s in lines if not s.startswith(("at ", "File ", "Traceback", "Driver stack"))]
    first = (said or [type(error).__name__])[0]
    cause = next((s for s in reversed(said) if "Error: " in s or "Exception: " in s), "")
    summary = first if cause in first else f"{first} ... {cause}"
    return ExecutorException("Spark", f"the job failed: {summary[:600]}")


def tasks_of(spark: Any, jobs: int = JOBS) -> Tasks:
    """Return the tasks of a SparkContext, or of a classic or Spark Connect session.

    At most `jobs` jobs run concurrently.
    """
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(executor_entry)
    if ".connect." in type(spark).__module__:
        return DataFrameTasks(spark, jobs)
    return RddTasks(getattr(spark, "sparkContext", spark), jobs)
