"""Real S3 servers on this machine, each in a process that ends with the one that started it."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from random import SystemRandom

from fscontract.implementations.s3 import moto_target
from servers.s3.process import Process
from servers.s3.signed import Server

_ACCESS_KEY, _SECRET_KEY = "fscontract", "fscontract-secret"
_S3RVER = Path(__file__).resolve().parent / "node/node_modules/s3rver/bin/s3rver.js"
#: Ports that systems don't assign to clients, so that connections made meanwhile take none.
_PORTS = range(10_000, 32_000)
_TRIES = 5


def serving(name: str) -> AbstractContextManager[Server]:
    """Return a context with the running server with that name, one of NAMES, which is empty."""
    return _SERVERS[name]()


@contextmanager
def _moto() -> Iterator[Server]:
    with moto_target.EmbeddedServer() as running:
        keys = (moto_target.ACCESS_KEY, moto_target.SECRET_KEY)
        yield Server("moto", running.url, *keys, region=moto_target.REGION)


@contextmanager
def _rclone() -> Iterator[Server]:
    command = [program("rclone"), "serve", "s3", "data", "--addr", "127.0.0.1:0"]
    command += ["--auth-key", f"{_ACCESS_KEY},{_SECRET_KEY}"]
    command += ["--config", os.devnull, "--cache-dir", "cache"]
    with Process(command) as process:
        url = process.logged(r"Starting s3 server on \[(http://[\d.:]+)/\]")
        yield process.ready(Server("rclone", url, _ACCESS_KEY, _SECRET_KEY))


@contextmanager
def _s3rver() -> Iterator[Server]:
    node = shutil.which("node")
    if node is None or not _S3RVER.exists():
        raise OSError("s3rver is not installed; install it with: npm ci --prefix servers/s3/node")
    options = ["--directory", "data", "--address", "127.0.0.1", "--port", "0", "--no-vhost-buckets"]
    with Process([node, str(_S3RVER), *options]) as process:
        url = "http://" + process.logged(r"S3rver listening on ([\d.]+:\d+)\n")
        yield process.ready(Server("s3rver", url, "S3RVER", "S3RVER"))


@contextmanager
def _seaweedfs() -> Iterator[Server]:
    with ExitStack() as stack:
        for left in reversed(range(_TRIES)):
            ports = _free_ports(8)
            url = f"http://127.0.0.1:{ports[0]}"
            process = stack.enter_context(_weed(ports))
            try:
                server = process.ready(Server("seaweedfs", url, _ACCESS_KEY, _SECRET_KEY))
                break
            # its ports must be chosen in advance, so another process may have taken one
            except OSError:
                if not left:
                    raise
        yield server


def _weed(ports: list[int]) -> Process:
    """Start SeaweedFS on those ports, the first of which is that of S3."""
    names = ("s3", "master", "volume", "filer")
    command = [program("weed"), "server", "-s3", "-filer", "-dir=data", "-ip=127.0.0.1"]
    command += [f"-{name}.port={port}" for name, port in zip(names, ports[:4], strict=True)]
    command += [f"-{name}.port.grpc={port}" for name, port in zip(names, ports[4:], strict=True)]
    command += ["-ip.bind=127.0.0.1", "-s3.port.iceberg=0", "-s3.port.lance=0"]
    command += ["-s3.localSocket=s3.sock", "-filer.localSocket=filer.sock", "-s3.config=s3.json"]
    command += ["-master.peers=none", "-master.telemetry=false", "-master.volumeSizeLimitMB=1024"]
    command += ["-volume.max=1000", "-volume.minFreeSpace=10MiB"]
    keys = {"accessKey": _ACCESS_KEY, "secretKey": _SECRET_KEY}
    user = {"name": "user", "credentials": [keys], "actions": ["Admin"]}
    return Process(
        command,
        files={"s3.json": json.dumps({"identities": [user]})},
        # Each bucket has separate volumes: start with one instead of seven.
        environment={"WEED_MASTER_VOLUME_GROWTH_COPY_1": "1"},
        leftovers=[f"/tmp/seaweedfs-*-grpc-{port}.sock" for port in ports[4:]],
    )


def _free_ports(count: int) -> list[int]:
    """Return free ports; they are not reserved."""
    free: list[int] = []
    with ExitStack() as stack:
        for port in SystemRandom().sample(_PORTS, len(_PORTS)):
            if len(free) == count:
                break
            listener = stack.enter_context(socket.socket())
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            free.append(port)
    return free


def program(name: str) -> str:
    """Return the path of a program that a wheel has installed beside this interpreter."""
    found = shutil.which(name, path=sysconfig.get_path("scripts"))
    if found is None:
        raise OSError(f"{name} is not installed beside {sys.executable}; install the extra dev")
    return found


_SERVERS: dict[str, Callable[[], AbstractContextManager[Server]]] = {
    "moto": _moto,
    "seaweedfs": _seaweedfs,
    "rclone": _rclone,
    "s3rver": _s3rver,
}
NAMES = tuple(_SERVERS)
