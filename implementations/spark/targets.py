"""Named target of streams that read through Spark."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, ClassVar

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.binding import Binding, TargetError
from fscontract.implementations.bindings.common import failure
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.spark.filesystem import SparkFileSystem
from fscontract.implementations.spark.locations import location_of
from fscontract.implementations.spark.session import local_session
from fscontract.implementations.targets import LocalBinding, check_options

_OPTIONS = ("inner", "master")


class SparkBinding(StreamBinding):
    """Binding to a SparkFileSystem and the resources started for it."""

    default_profile: ClassVar[str] = "spark"

    def __init__(self, filesystem: SparkFileSystem, closing: ExitStack | None = None) -> None:
        super().__init__(filesystem, "spark")
        self.remote = True
        self._spark = filesystem
        self._closing = closing or ExitStack()
        inner = filesystem.inner
        self._local = LocalBinding(inner) if isinstance(inner, LocalFileSystem) else None

    def prepare(self) -> None:
        """Start the workers and create a random directory; raise TargetError."""
        try:
            self._spark.tasks.warm_up()
        except OSError as error:
            raise failure(self.name, "can't run tasks", error) from error
        super().prepare()

    def change(self, path: str, content: bytes | None) -> None:
        """Overwrite or delete a file; overwrite a local one in place, as other programs do."""
        if self._local is not None:
            self._local.change(path, content)
        else:
            super().change(path, content)

    def dispose(self) -> None:
        """Remove the directory and stop all started resources; raise TargetError."""
        try:
            super().dispose()
        finally:
            self._spark.close()
            self._closing.close()


def spark(options: Mapping[str, str]) -> Binding:
    """Return a binding to streams that read through Spark executors, in a separate session.

    `master` is the Spark master, by default "local[2]". `inner` is "memory", "local" (a temporary
    directory; the default), "s3" (a bucket on a moto server), or a URL that SparkFileSystem
    accepts. Raise TargetError if an option is invalid or something can't be started.
    """
    check_options("spark", options, _OPTIONS)
    inner = options.get("inner", "local")
    with ExitStack() as stack:
        location, environment = _inner(inner, stack)
        session = stack.enter_context(
            local_session(options.get("master", "local[2]"), environment=environment)
        )
        return SparkBinding(SparkFileSystem(session, location), stack.pop_all())


def _inner(name: str, stack: ExitStack) -> tuple[Any, dict[str, str]]:
    """Return the inner filesystem for SparkFileSystem, and the environment for executors."""
    known: dict[str, Callable[[], Any]] = {
        "memory": lambda: "memory:",
        "local": lambda: LocalFileSystem(tempfile.gettempdir(), durable=False),
    }
    if name == "s3":
        return _embedded(stack)
    if name in known:
        return known[name](), {}
    try:
        return location_of(name), {}
    except IllegalArgumentException as error:
        raise TargetError(
            f"spark: invalid value for inner: {error}; expected memory, local, s3 or a URL"
        ) from error


def _embedded(stack: ExitStack) -> tuple[Any, dict[str, str]]:
    from fscontract.implementations.s3 import moto_target
    from fscontract.implementations.s3.filesystem import S3FileSystem
    from fscontract.implementations.s3.moto_target import embedded_config, make_bucket, start

    server = stack.enter_context(start({}))
    make_bucket(server.url)
    filesystem = S3FileSystem.of(embedded_config(server.url, {}))
    keys = {
        "AWS_ACCESS_KEY_ID": moto_target.ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": moto_target.SECRET_KEY,
    }
    return filesystem, keys
