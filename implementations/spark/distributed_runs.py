"""Parts of a run as tasks of Spark: `fscontract check TARGET --spark MASTER`."""

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
#: How long an address may take to answer, in seconds: Spark itself would try for a minute or more.
_PATIENCE = 5.0


class SparkBackend(Backend):
    """Tasks of a session; each is a job, so that what it finds is known when it ends."""

    def __init__(self, session: Any, name: str) -> None:
        self.name = name
        #: What ends with it.
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
        """As Spark has it."""
        return self._parallelism

    def submit(self, work: Work, request: str, description: str) -> Future[str]:
        """Start a job of one task."""
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
        """As the status tracker has it, which is asked for one job after the other: a task that
        ends meanwhile may be counted with the one that comes in its place."""
        counts = [self._tasks.running(job) for job in self._sent if job.running()]
        return None if None in counts else min(sum(filter(None, counts)), self._parallelism)

    def cancel(self) -> None:
        """Cancel all jobs; executors end the workers whose tasks are running."""
        for job in self._sent:
            self._tasks.cancel(job)

    def close(self) -> None:
        """Stop what was started."""
        self.cancel()
        self._tasks.close()
        self.closing.close()


def spark(master: str) -> Backend:
    """Tasks at a master of Spark; TargetError, or UsageError for what is none."""
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
        raise UsageError(f"--spark: no master {_shown(master)!r}; it takes {_KNOWN}")
    with ExitStack() as stack:
        backend = SparkBackend(stack.enter_context(session), _shown(master))
        backend.closing = stack.pop_all()
        return backend


def _shown(master: str) -> str:
    """The master without what may be secret: the token of sc://host:port/;token=..."""
    parts = urlsplit(master)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}" if "://" in master else master


def _reach(master: str) -> None:
    """TargetError unless something listens at one of the addresses of a master."""
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
    raise TargetError(f"{_shown(master)}: no Spark there: {why}")
