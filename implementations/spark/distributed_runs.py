"""Shards of a run as Spark tasks: `fscontract check TARGET --spark MASTER`."""

from __future__ import annotations

import re
import socket
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

from fscontract.contract.binding import TargetError
from fscontract.contract.distributed.backend import Backend, Work
from fscontract.contract.targets import UsageError
from fscontract.implementations.spark.session import (
    client_session,
    cluster_session,
    local_session,
)
from fscontract.implementations.spark.tasks import tasks_of

_LOCAL = re.compile(r"local(\[(\d+|\*)(,\d+)?\]|-cluster\[\d+,\d+,\d+\])?")
_CLUSTER = re.compile(r"(spark://.+|yarn|k8s://.+)")
_CLIENT = re.compile(r"sc://.+")
_KNOWN = "local[2], local-cluster[2,1,1024], spark://HOST:PORT, yarn, k8s://... or sc://HOST:PORT"
#: Timeout in seconds for connecting to an address; Spark itself would try for a minute or more.
_PATIENCE = 5.0


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
    if _LOCAL.fullmatch(master):
        session: Any = local_session(master)
    elif _CLIENT.fullmatch(master):
        _reach(master)
        session = client_session(master)
    elif _CLUSTER.fullmatch(master):
        if master.startswith("spark://"):
            _reach(master)
        session = cluster_session(master)
    else:
        raise UsageError(
            f"invalid value for --spark: {_without_secrets(master)!r}; expected {_KNOWN}"
        )
    with ExitStack() as stack:
        backend = SparkBackend(stack.enter_context(session), _without_secrets(master))
        backend.closing = stack.pop_all()
        return backend


def _without_secrets(master: str) -> str:
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
            socket.create_connection((host, number), _PATIENCE).close()
        except (OSError, ValueError, OverflowError) as error:
            why = error
        else:
            return
    raise TargetError(f"{_without_secrets(master)}: can't connect to Spark: {why}")
