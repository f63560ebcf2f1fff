"""`fscontract serve`: serve a directory over HTTP or S3, with the misbehaviour of your choice."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fscontract.contract.command_line import say
from fscontract.contract.program.fault_kinds import MOST_SECONDS
from fscontract.contract.program.server_faults import HTTP, S3, SERVER_FAULTS, kinds_at

if TYPE_CHECKING:
    from fscontract.fakes.servers.server import MisbehavingServer

_Function = TypeVar("_Function", bound=Callable[..., Any])
_DIRECTORY = click.argument(
    "directory", type=click.Path(exists=True, file_okay=False, path_type=Path)
)
_PORT = click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="The port; 0 for a free one.",
)


def _misbehaviour(place: str) -> Callable[[_Function], _Function]:
    """Add an option for each kind of fault of a place."""

    def add(function: _Function) -> _Function:
        for name in reversed([name for name in SERVER_FAULTS if name in kinds_at(place)]):
            kind = SERVER_FAULTS[name]
            seconds = kind.parameters.get("seconds")
            if seconds is None:
                option = click.option(f"--{name}", is_flag=True, help=kind.meaning)
            else:
                option = click.option(
                    f"--{name}",
                    metavar="SECONDS",
                    type=click.FloatRange(0, MOST_SECONDS),
                    default=None,
                    help=kind.meaning.replace("`", ""),
                )
            function = option(function)
        return function

    return add


@click.group(short_help="Serve a directory over HTTP or S3.")
def serve() -> None:
    """Serve a directory on the loopback interface, until Ctrl-C or SIGTERM.

    Options make the server misbehave, to test a client. Each strikes every request that it can.
    """


@serve.command(short_help="Serve a directory over HTTP.")
@_DIRECTORY
@_PORT
@_misbehaviour(HTTP)
def http(directory: Path, port: int, **options: bool | float | None) -> None:
    """Serve the files of DIRECTORY over HTTP, for reading."""

    def make() -> MisbehavingServer:
        from fscontract.fakes.servers.http_server import HttpServer

        return HttpServer(directory, port=port, **_given(options))

    _run(make, _about_http)


@serve.command(short_help="Serve a directory over S3.")
@_DIRECTORY
@_PORT
@click.option("--bucket", default="bucket", show_default=True, help="The name of the bucket.")
@_misbehaviour(S3)
def s3(directory: Path, port: int, bucket: str, **options: bool | float | None) -> None:
    """Serve the files of DIRECTORY as the objects of a bucket, with the S3 server moto.

    The objects are in memory: what clients write is gone at the end. Any credentials will do.
    """

    def make() -> MisbehavingServer:
        from fscontract.fakes.servers.s3_server import S3Server

        return S3Server(directory, bucket=bucket, port=port, **_given(options))

    _run(make, _about_s3)


def _given(options: dict[str, bool | float | None]) -> dict[str, bool | float]:
    return {name: value for name, value in options.items() if value is not None}


def _run(make: Callable[[], MisbehavingServer], about: Callable[[Any], Iterator[str]]) -> None:
    """Run a server until a signal; print how to reach it."""
    from fscontract.contract.binding import TargetError

    try:
        server = make()
    except ModuleNotFoundError as error:
        raise TargetError(
            f"serve needs the module {error.name!r}; pip install 'fscontract[servers]'"
        ) from error
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    except OSError as error:
        raise click.UsageError(f"can't listen: {error.strerror or error}") from error
    ended = threading.Event()

    def end(*_: object) -> None:
        ended.set()

    former = {number: signal.signal(number, end) for number in _SIGNALS}
    try:
        with server:
            for line in about(server):
                say(line)
            for fault in server.misbehaviour:
                say(f"strikes {fault.kind}: {SERVER_FAULTS[fault.kind].meaning}")
            sys.stdout.flush()
            ended.wait()
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


def _about_http(server: Any) -> Iterator[str]:
    yield f"serving {server.directory} at {server.url}/"
    yield "fsspec: fsspec.filesystem('http')"


def _about_s3(server: Any) -> Iterator[str]:
    yield f"serving s3://{server.bucket} at {server.url}"
    for name, value in server.environment.items():
        yield f"export {name}={value}"
    yield f"s3fs: s3fs.S3FileSystem(endpoint_url='{server.url}', key=..., secret=...)"
