"""The named target of streams that read through Spark."""

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
    """The binding to a SparkFileSystem, and to what was started for it."""

    default_profile: ClassVar[str] = "spark"

    def __init__(self, filesystem: SparkFileSystem, closing: ExitStack | None = None) -> None:
        super().__init__(filesystem, "spark")
        self.remote = True
        self._spark = filesystem
        self._closing = closing or ExitStack()
        inner = filesystem.inner
        self._local = LocalBinding(inner) if isinstance(inner, LocalFileSystem) else None

    def prepare(self) -> None:
        """Start the workers, and make a random directory; TargetError."""
        try:
            self._spark.tasks.warm_up()
        except OSError as error:
            raise failure(self.name, "can't run tasks", error) from error
        super().prepare()

    def change(self, path: str, content: bytes | None) -> None:
        """Overwrite or delete a file; a local one in place, as other programs do."""
        if self._local is not None:
            self._local.change(path, content)
        else:
            super().change(path, content)

    def dispose(self) -> None:
        """Remove the directory, and end what was started; TargetError."""
        try:
            super().dispose()
        finally:
            self._spark.close()
            self._closing.close()


def spark(options: Mapping[str, str]) -> Binding:
    """Streams over Spark's executors, in a session of their own.

    `master` is Spark's, "local[2]" without. `inner` is "memory", "local" (a directory for temporary
    files; so without the option), "s3" (a bucket on a moto server), or a URL that SparkFileSystem
    takes. TargetError if an option is wrong, or something can't be started.
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
    """What SparkFileSystem is to be over, and what executors need in their environment for it."""
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
        raise TargetError(f"spark: inner is memory, local, s3 or a URL: {error}") from error


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
