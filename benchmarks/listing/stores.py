"""The same queries on a dataset in a bucket: with LIST requests, and with the metadata table."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from benchmarks.listing.dataset import TABLE, Shape, begin, change_of
from benchmarks.listing.filled import BUCKET, SIZE, filled
from benchmarks.s3.relay import Relay
from fscontract.implementations.s3.filesystem import S3FileSystem
from fscontract.pipeline.hudi.listing import FileListing
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.writer import MetadataWriter
from servers.s3.signed import Server

#: Runs that take longer, in seconds, are timed only in every third round.
_SLOW = 10.0
_PAGE = 1000


@dataclass(frozen=True)
class Client:
    """A filesystem on the bucket of a server, and a table that is kept open."""

    fs: S3FileSystem
    server: Server
    kept: MetadataTable


@dataclass
class Asked:
    """A way to answer a query: its requests, and its times in seconds by server.

    `processor` has the CPU seconds of this process, for all servers.
    """

    question: str
    name: str
    run: Callable[[Client], int]
    requests: int = 0
    seconds: dict[str, list[float]] = field(default_factory=dict)
    processor: list[float] = field(default_factory=list)
    failed: str = ""


def asked(shape: Shape) -> list[Asked]:
    """Return all ways of answering all queries."""
    day = f"day={shape.day}"
    questions: dict[str, Callable[[MetadataTable], int]] = {
        "all": lambda table: sum(len(statuses) for _, statuses in table.list_all()),
        "one": lambda table: len(table.list_files(day)),
        "range": lambda table: len(table.prune(shape.filters)),
    }
    cases: list[Asked] = []
    for question, run in questions.items():
        cases.append(Asked(question, "metadata table", partial(_opened, run)))
        cases.append(Asked(question, "metadata table kept open", partial(_kept, run)))
    return [
        *cases,
        Asked("all", "LIST per partition, one after the other", _one_by_one),
        Asked("all", "LIST per partition, 8 at a time", _listed),
        Asked("all", "LIST of all keys, 1,000 a page", _flat),
        Asked("one", "LIST of that partition", partial(_partition, day)),
    ]


def _opened(run: Callable[[MetadataTable], int], client: Client) -> int:
    with MetadataTable(client.fs, TABLE) as table:
        return run(table)


def _kept(run: Callable[[MetadataTable], int], client: Client) -> int:
    return run(client.kept)


def _listed(client: Client) -> int:
    return sum(map(len, FileListing(client.fs, TABLE, enabled=False).list_all().values()))


def _one_by_one(client: Client) -> int:
    days = [status.path for status in client.fs.list_status(TABLE) if "day=" in status.path]
    return sum(1 for day in days for _ in client.fs.list_status(day))


def _partition(day: str, client: Client) -> int:
    return sum(1 for _ in client.fs.list_status(f"{TABLE}/{day}"))


def _flat(client: Client) -> int:
    """List as obstore does without directories: with the fewest possible requests."""
    import obstore
    from obstore.store import S3Store

    store = S3Store(
        BUCKET,
        endpoint=client.server.url,
        access_key_id=client.server.access_key,
        secret_access_key=client.server.secret_key,
        region=client.server.region,
        client_options={"allow_http": True},
    )
    pages = obstore.list(store, f"{TABLE[1:]}/", chunk_size=_PAGE)
    return sum("/day=" in entry["path"] for page in pages for entry in page)


@contextmanager
def prepared(shape: Shape, latency: float, kind: str) -> Iterator[tuple[Server, dict[str, Server]]]:
    """Return a context with a bucket, its server, and the servers to time."""
    with ExitStack() as stack:
        server = stack.enter_context(filled(shape, kind))
        fs = stack.enter_context(_bucket(server))
        begin(fs, TABLE)
        MetadataWriter(fs, TABLE).bootstrap(change_of(shape, SIZE), "trips")
        servers = {"direct": server}
        if latency:
            relay = stack.enter_context(Relay(server.url, latency / 1000))
            servers[f"{latency:g} ms"] = replace(server, url=relay.url)
        yield server, servers


@contextmanager
def _bucket(server: Server) -> Iterator[S3FileSystem]:
    fs = S3FileSystem(
        BUCKET,
        endpoint=server.url,
        region=server.region,
        access_key=server.access_key,
        secret_key=server.secret_key,
    )
    try:
        yield fs
    finally:
        fs.close()


@contextmanager
def _client(server: Server) -> Iterator[Client]:
    with _bucket(server) as fs, MetadataTable(fs, TABLE) as table:
        yield Client(fs, server, table)


def count(ways: list[Asked], server: Server, expected: dict[str, int]) -> None:
    """Count the requests of each way with a relay; the second time with an open table."""
    with Relay(server.url) as relay, _client(replace(server, url=relay.url)) as client:
        for way in ways:
            if "kept" in way.name:
                way.run(client)
            before = relay.counts()
            answer = way.run(client)
            way.requests = sum((relay.counts() - before).requests.values())
            if answer != expected[way.question]:
                way.failed = f"{answer} files"


def measure(ways: list[Asked], servers: dict[str, Server], rounds: int) -> None:
    """Time all ways alternately, in a changing order; fast ones have a warm-up round."""
    for name, server in servers.items():
        with _client(server) as client:
            for number in range(rounds + 1):
                order = [way for way in ways if not way.failed]
                random.Random(number).shuffle(order)
                for way in order:
                    taken = way.seconds.setdefault(name, [])
                    if taken and taken[-1] > _SLOW and number % 3:
                        continue
                    used, start = time.process_time(), time.perf_counter()
                    way.run(client)
                    seconds = time.perf_counter() - start
                    if number or seconds > _SLOW:
                        taken.append(seconds)
                        way.processor.append(time.process_time() - used)
