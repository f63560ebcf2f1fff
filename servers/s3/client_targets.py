"""S3 clients as targets, all on one bucket of a server."""

from __future__ import annotations

import io
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import boto3
import opendal
from obstore.store import S3Store

from fscontract.contract.binding import Binding
from fscontract.contract.script.calls import ScriptApi, Source
from fscontract.contract.script.layout import quoted
from fscontract.implementations.bindings.file_operations import failed_step
from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.bindings.object_stores import OpenedFileBinding
from fscontract.implementations.bindings.obstore import ObstoreBinding, ObstoreStore
from fscontract.implementations.bindings.opendal import OpendalBinding
from fscontract.implementations.bindings.pyarrow import PyArrowBinding
from fscontract.implementations.bindings.script_setup import FILE
from fscontract.implementations.bindings.spelling import spell_file
from fscontract.implementations.s3.moto_target import ACCESS_KEY, REGION, SECRET_KEY

#: Cache types of fsspec, except readahead, s3fs's default, and parts, which requires the content.
CACHES = ("none", "bytes", "blockcache", "mmap", "background", "first", "all", "adaptive")
#: Operations that a StreamingBody implements.
_OF_A_BODY = frozenset(
    {"close", "get_pos", "read_byte", "read_into", "py_closed", "py_next", "py_read", "py_readable"}
    | {"py_readinto", "py_readline", "py_readlines", "py_tell", "py_with"}
)
_KEYS = {"access_key_id": ACCESS_KEY, "secret_access_key": SECRET_KEY, "region": REGION}


#: How bindings were made, for scripts of their failures.
SOURCES: WeakKeyDictionary[Binding, Source] = WeakKeyDictionary()


class Place(NamedTuple):
    """A bucket of a server, or of a proxy before it."""

    url: str
    bucket: str

    @property
    def boto3(self) -> Any:
        """A new boto3 client."""
        return boto3.client(
            "s3",
            endpoint_url=self.url,
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
            region_name=REGION,
        )

    @property
    def obstore(self) -> S3Store:
        """A new obstore store."""
        options = {"allow_http": True}
        return S3Store(self.bucket, endpoint=self.url, client_options=options, **_KEYS)  # type: ignore[arg-type]

    @property
    def opendal(self) -> Any:
        """A new OpenDAL Operator."""
        return opendal.Operator("s3", bucket=self.bucket, root="/", endpoint=self.url, **_KEYS)


def options_of_pyarrow(place: Place) -> dict[str, str]:
    """Return the arguments of PyArrow's S3FileSystem."""
    keys = {"access_key": ACCESS_KEY, "secret_key": SECRET_KEY, "region": REGION}
    return {**keys, "endpoint_override": place.url}


def pyarrow(place: Place) -> Binding:
    """Return a binding to PyArrow's S3FileSystem."""
    return _made(PyArrowBinding, place, options_of_pyarrow(place))


def obstore(place: Place) -> Binding:
    """Return a binding to obstore's S3Store."""
    options = {**_KEYS, "endpoint": place.url, "client_options": '{"allow_http": true}'}
    return _made(ObstoreBinding, place, options)


def opendal_s3(place: Place) -> Binding:
    """Return a binding to an OpenDAL Operator for the service s3."""
    return _made(OpendalBinding, place, {**_KEYS, "endpoint": place.url})


def s3fs(place: Place, cache: str = "readahead") -> Binding:
    """Return a binding to s3fs's S3FileSystem, with this cache type and small blocks."""
    options = {"key": ACCESS_KEY, "secret": SECRET_KEY, "endpoint_url": place.url}
    cached = {"default_cache_type": cache, "default_block_size": "4096"}
    return _made(FsspecBinding, place, {**options, **cached})


def _made(kind: Any, place: Place, options: dict[str, str]) -> Binding:
    """Return a binding of this class to the bucket, and note how it was made."""
    url = f"s3://{place.bucket}"
    binding: Binding = kind.from_url(url, options)
    SOURCES[binding] = Source(url, options)
    return binding


class _Opened(OpenedFileBinding):
    """Objects that a client of boto3 writes, and files that `opening`, an expression, opens."""

    def __init__(self, opener: Any, place: Place, opening: str, *given: Any) -> None:
        super().__init__(opener, ObstoreStore(place.obstore), *given)
        self._place = place
        self._opening = opening

    def script_api(self, source: Source) -> ScriptApi:
        """Return the files as scripts use them."""
        keys = f"aws_access_key_id={quoted(ACCESS_KEY)}, aws_secret_access_key={quoted(SECRET_KEY)}"
        given = f"endpoint_url={quoted(self._place.url)}, {keys}, region_name={quoted(REGION)}"
        module = self._opening.partition(".")[0]
        return ScriptApi(
            setup=(
                *(["import boto3"] if module == "s3" else ["import boto3", f"import {module}"]),
                f's3 = boto3.client("s3", {given})',
                f"bucket, path = {quoted(self._place.bucket)}, {quoted(FILE)}",
            ),
            write="s3.put_object(Bucket=bucket, Key=path, Body={})",
            delete="s3.delete_object(Bucket=bucket, Key=path)",
            spell=spell_file,
            opening=lambda program, name: (f"{name} = {self._opening}",),
            failed=failed_step,
            status='s3.head_object(Bucket=bucket, Key=path)["ContentLength"]',
            cleanup=("s3.delete_object(Bucket=bucket, Key=path)",),
            remote=True,
        )


def smart(place: Place) -> Binding:
    """Return a binding to files of smart_open."""
    import smart_open  # which imports all clouds' clients that are installed

    client = place.boto3

    def opener(path: str) -> Any:
        url = f"s3://{place.bucket}/{path}"
        return smart_open.open(
            url, "rb", compression="disable", transport_params={"client": client}
        )

    how = 'compression="disable", transport_params={"client": s3}'
    opening = f'smart_open.open(f"s3://{{bucket}}/{{path}}", "rb", {how})'
    return _Opened(opener, place, opening, "smart_open", ("smart_open",))


def streaming_body(place: Place) -> Binding:
    """Return a binding to boto3's StreamingBody, which can't seek."""
    client = place.boto3

    def opener(path: str) -> io.IOBase:
        body: io.IOBase = client.get_object(Bucket=place.bucket, Key=path)["Body"]
        return body

    opening = 's3.get_object(Bucket=bucket, Key=path)["Body"]'
    return _Opened(opener, place, opening, "boto3", ("boto3", "botocore"), _OF_A_BODY)
