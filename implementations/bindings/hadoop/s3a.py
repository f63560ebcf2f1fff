"""The named target `s3a`: Hadoop's own S3 connector.

Its libraries are of another version of Hadoop than those of the other Hadoop targets, so a process
that checks one can't check the other: `fscontract check` gives each target its own process.
"""

from __future__ import annotations

from collections.abc import Mapping

from fscontract.contract.binding import Binding, TargetError
from fscontract.implementations.bindings.hadoop.binding import HadoopBinding
from fscontract.implementations.bindings.hadoop.exceptions import told, unwrapped
from fscontract.implementations.bindings.hadoop.files import HadoopStore
from fscontract.implementations.bindings.hadoop.java import java
from fscontract.implementations.bindings.hadoop.place import Place
from fscontract.implementations.bindings.hadoop.places import configuration
from fscontract.implementations.jvm import jars, machine
from fscontract.implementations.s3 import embedded
from fscontract.implementations.s3.targets import BUCKET, make_bucket, start

_PREFIX = "fs.s3a."
#: What a check needs: an answer soon, and none of it on local disk.
_ALWAYS = {
    "fs.s3a.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
    "fs.s3a.bucket.probe": "0",
    "fs.s3a.directory.marker.retention": "keep",
    "fs.s3a.fast.upload.buffer": "bytebuffer",
    "fs.s3a.attempts.maximum": "2",
    "fs.s3a.retry.limit": "2",
    "fs.s3a.retry.interval": "50ms",
    "fs.s3a.retry.throttle.limit": "2",
    "fs.s3a.connection.timeout": "10000",
    "fs.s3a.connection.establish.timeout": "5000",
}
_EMBEDDED = {
    "fs.s3a.access.key": embedded.ACCESS_KEY,
    "fs.s3a.secret.key": embedded.SECRET_KEY,
    "fs.s3a.aws.credentials.provider": "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
    "fs.s3a.endpoint.region": embedded.REGION,
    "fs.s3a.path.style.access": "true",
    "fs.s3a.connection.ssl.enabled": "false",
}


class S3ABinding(HadoopBinding):
    """The binding to S3A, perhaps on a server that ends with it."""

    def __init__(
        self, place: Place, secrets: tuple[str, ...], server: embedded.EmbeddedServer | None
    ) -> None:
        super().__init__(place, "s3a", secrets)
        self._server = server

    def dispose(self) -> None:
        """Remove the directory, and end connections and the server; TargetError."""
        try:
            super().dispose()
        finally:
            if self._server is not None:
                self._server.close()


class _Bucket(Place):
    profile = "hadoop-s3a"


def s3a(options: Mapping[str, str]) -> Binding:
    """S3A on the bucket `bucket`, or on one of a moto server that the run starts.

    The other options are those of Hadoop that begin with `fs.s3a.`. TargetError if an option is
    wrong, or Java, the server or S3A can't be started.
    """
    given = dict(options)
    bucket = given.pop("bucket", None)
    for name in given:
        if not name.startswith(_PREFIX):
            raise TargetError(f"s3a: no option {name!r}; options: bucket, {_PREFIX}*")
    machine.start(jars.s3a_jars())
    if bucket is not None:
        return _binding(bucket, given, None)
    server = start({})
    try:
        make_bucket(server.url)
        return _binding(BUCKET, {"fs.s3a.endpoint": server.url, **_EMBEDDED, **given}, server)
    except BaseException:
        server.close()
        raise


def _binding(
    bucket: str, options: Mapping[str, str], server: embedded.EmbeddedServer | None
) -> Binding:
    secrets = () if server is not None else tuple(options.values())
    uri = machine.java_class("java.net.URI").create(f"s3a://{bucket}/")
    made = configuration({**_ALWAYS, **options})
    try:
        filesystem = machine.java_class("org.apache.hadoop.fs.FileSystem").newInstance(uri, made)
    except Exception as error:
        raise TargetError(f"s3a: can't be opened: {told(unwrapped(error), secrets)}") from error
    return S3ABinding(
        _Bucket(filesystem, HadoopStore(filesystem, java(), ""), (filesystem,)), secrets, server
    )
