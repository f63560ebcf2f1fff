"""Shards of a run as Spark tasks: `fscontract check TARGET --spark MASTER`."""

from __future__ import annotations

from concurrent.futures import CancelledError, Future
from contextlib import ExitStack
from typing import Any

from fscontract.contract.binding import TargetError
from fscontract.contract.distributed.backend import Backend, Work
from fscontract.implementations.spark.session import session_of, without_secrets
from fscontract.implementations.spark.tasks import tasks_of


class SparkBackend(Backend):
    """Tasks of a session; each task is a separate job, so its result is available when it ends."""

    def __init__(self, session: Any, name: str) -> None:
        self.name = name
        #: Resources that are closed with the backend.
        self.closing = ExitStack()
        few = tasks_of(session)
        self._parallelism = few.parallelism
        self._tasks = tasks_of(session, 2 * self._parallelism)
        self._sent: list[Future[Any]] = []
        try:
            self._tasks.warm_up()
        except OSError as error:
            raise TargetError(f"{name}: {error}") from error

    @property
    def parallelism(self) -> int:
        """Spark's default parallelism."""
        return self._parallelism

    def submit(self, work: Work, request: str, description: str) -> Future[str]:
        """Start a job with one task."""
        job = self._tasks.submit(work, [request], 1, description)
        self._sent.append(job)
        future: Future[str] = Future()
        future.set_running_or_notify_cancel()

        def pass_on(job: Future[list[str]]) -> None:
            try:
                future.set_result(job.result()[0])
            except (OSError, CancelledError) as error:
                future.set_exception(TargetError(str(error) or "cancelled"))
            except BaseException as error:
                future.set_exception(error)

        job.add_done_callback(pass_on)
        return future

    def running(self) -> int | None:
        """Return the number of running tasks from the status tracker.

        The tracker is queried for one job after the other, so a task that ends meanwhile and the
        task that replaces it may both be counted.
        """
        counts = [self._tasks.running(job) for job in self._sent if job.running()]
        return None if None in counts else min(sum(filter(None, counts)), self._parallelism)

    def cancel(self) -> None:
        """Cancel all jobs; executors kill the workers of running tasks."""
        for job in self._sent:
            self._tasks.cancel(job)

    def close(self) -> None:
        """Stop everything that was started."""
        self.cancel()
        self._tasks.close()
        self.closing.close()


def spark(master: str) -> Backend:
    """Return a backend for a Spark master; raise TargetError, or UsageError if it is invalid."""
    with ExitStack() as stack:
        backend = SparkBackend(stack.enter_context(session_of(master)), without_secrets(master))
        backend.closing = stack.pop_all()
        return backend
