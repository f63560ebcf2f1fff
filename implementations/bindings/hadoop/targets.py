"""Named targets `hadoop` and `s3a`."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from urllib.parse import quote

from fscontract.contract.binding import Binding, TargetError
from fscontract.implementations.bindings.hadoop.binding import HadoopBinding
from fscontract.implementations.bindings.hadoop.conversions import java, told, unwrapped
from fscontract.implementations.bindings.hadoop.local_files import HadoopLocation, HadoopStore
from fscontract.implementations.bindings.hadoop.locations import SCHEMES, configuration
from fscontract.implementations.jvm import jvm
from fscontract.implementations.s3 import moto_target
from fscontract.implementations.s3.moto_target import BUCKET, make_bucket, start


def hadoop(options: Mapping[str, str]) -> Binding:
    """Return a binding to Hadoop's RawLocalFileSystem, in a temporary directory.

    Option `filesystem` is "raw", "file", "viewfs" or "har", `api` is "filesystem" or "filecontext";
    others are set in Hadoop's Configuration. Raise TargetError.
    """
    given = dict(options)
    scheme = given.pop("filesystem", SCHEMES[0])
    if scheme not in SCHEMES:
        raise TargetError(
            f"hadoop: invalid value for filesystem: {scheme!r}; expected {' or '.join(SCHEMES)}"
        )
    binding = HadoopBinding.from_url(f"{scheme}://{quote(tempfile.gettempdir())}", given)
    binding.name = "hadoop"
    return binding


_PREFIX = "fs.s3a."
#: Settings that a check requires: quick responses, and no data on local disk.
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
    "fs.s3a.access.key": moto_target.ACCESS_KEY,
    "fs.s3a.secret.key": moto_target.SECRET_KEY,
    "fs.s3a.aws.credentials.provider": "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
    "fs.s3a.endpoint.region": moto_target.REGION,
    "fs.s3a.path.style.access": "true",
    "fs.s3a.connection.ssl.enabled": "false",
}


def embedded_settings(url: str) -> dict[str, str]:
    """Return the configuration of S3A for a moto server at a URL."""
    return {"fs.s3a.endpoint": url, **_EMBEDDED}


class S3ABinding(HadoopBinding):
    """Binding to S3A, optionally on a server that ends with it."""

    def __init__(
        self,
        location: HadoopLocation,
        secrets: tuple[str, ...],
        server: moto_target.EmbeddedServer | None,
    ) -> None:
        super().__init__(location, "s3a", secrets)
        self._server = server

    def dispose(self) -> None:
        """Remove the directory; stop connections and the server; raise TargetError."""
        try:
            super().dispose()
        finally:
            if self._server is not None:
                self._server.close()


class _Bucket(HadoopLocation):
    profile = "hadoop-s3a"


def s3a(options: Mapping[str, str]) -> Binding:
    """Return a binding to S3A on the bucket `bucket`, or on a moto server started for the run.

    Other options are Hadoop's keys that begin with `fs.s3a.`. Raise TargetError if an option is
    invalid, or Java, the server or S3A can't be started.
    """
    given = dict(options)
    bucket = given.pop("bucket", None)
    for name in given:
        if not name.startswith(_PREFIX):
            raise TargetError(f"s3a: unknown option {name!r}; expected bucket or {_PREFIX}*")
    jvm.start(jvm.s3a_jars(), short_lived=True)
    if bucket is not None:
        return _binding(bucket, given, None)
    server = start({})
    try:
        make_bucket(server.url)
        return _binding(BUCKET, {**embedded_settings(server.url), **given}, server)
    except BaseException:
        server.close()
        raise


def _binding(
    bucket: str, options: Mapping[str, str], server: moto_target.EmbeddedServer | None
) -> Binding:
    secrets = () if server is not None else tuple(options.values())
    uri = jvm.java_class("java.net.URI").create(f"s3a://{bucket}/")
    config = configuration({**_ALWAYS, **options})
    try:
        filesystem = jvm.java_class("org.apache.hadoop.fs.FileSystem").newInstance(uri, config)
    except Exception as error:
        raise TargetError(f"s3a: can't be opened: {told(unwrapped(error), secrets)}") from error
    return S3ABinding(
        _Bucket(filesystem, HadoopStore(filesystem, java(), ""), (filesystem,)), secrets, server
    )
