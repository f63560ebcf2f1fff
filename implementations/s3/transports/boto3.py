"""boto3 transport: ranged GETs and all other operations."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    HTTPClientError,
    NoCredentialsError,
    PartialCredentialsError,
    ReadTimeoutError,
    ResponseStreamingError,
)
from botocore.exceptions import ConnectionError as BotoConnectionError
from botocore.parsers import ResponseParserError
from urllib3.exceptions import HTTPError as Urllib3Error
from urllib3.exceptions import ReadTimeoutError as Urllib3Timeout

from fscontract.contract.api.errors import FileNotFoundException, PathIOException
from fscontract.implementations.s3.answers import (
    Misfit,
    extent_of,
    if_match,
    listed,
    plain_etag,
    required,
)
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.errors import (
    BodyCutException,
    ConnectionFailedException,
    NoCredentialsException,
    ObjectLocation,
    RequestTimeoutException,
    S3Exception,
    WrongAnswerException,
    of_status,
)
from fscontract.implementations.s3.object_reader import Body, Cancellation, RangeSource, Request
from fscontract.implementations.s3.object_store import Namespace, ObjectInfo, Page, Written, exists
from fscontract.implementations.s3.transports.clients import boto3_client

#: Maximum bytes of one chunk.
_CHUNK = 1 << 20
_UNSATISFIED = re.compile(r"bytes \*/([0-9]{1,19})")
#: More digits than any number in a valid response.
_DIGITS = 19
#: Error codes of HEAD responses, which have no body.
_WORDS = {"404": "NoSuchKey", "412": "PreconditionFailed"}


class Boto3Body(Body):
    """Response to one GET."""

    def __init__(
        self, location: ObjectLocation, answer: Mapping[str, Any], cancel: Cancellation
    ) -> None:
        self._location = location
        self._cancel = cancel
        self._raw: Any = answer["Body"]._raw_stream
        metadata = answer["ResponseMetadata"]
        extent = extent_of(metadata["HTTPStatusCode"], metadata["HTTPHeaders"])
        self.offset, self.length, self.total = extent
        self.etag = answer.get("ETag")
        self.version = answer.get("VersionId")

    def chunk(self) -> memoryview:
        """See the base class."""
        with self._cancel.calling(self._abort):
            self._cancel.check()
            try:
                return memoryview(self._raw.read(_CHUNK))
            except Exception as error:
                self._cancel.check()  # a cancellation explains the error
                if isinstance(error, ValueError | AttributeError):  # closed during the read
                    what = "the connection was closed"
                    raise ConnectionFailedException(self._location, what) from None
                raise failure(self._location, error) from None

    def close(self) -> None:
        """See the base class."""
        # urllib3 returns a connection to the pool when its body was read to the end.
        self._raw.close()

    def _abort(self) -> None:
        """Interrupt a read in another thread; closing would wait for it."""
        shutdown = getattr(self._raw, "shutdown", None)  # urllib3 2.3 and later
        if shutdown is not None:
            try:
                shutdown()
            except (ValueError, OSError, RuntimeError):  # the connection has ended already
                return


class Boto3Source(RangeSource):
    """Objects of a bucket, through `get_object` of a boto3 client without retries.

    A request can't be cancelled before its response headers arrive; it ends by the timeout.
    """

    def __init__(self, config: S3Config) -> None:
        self._bucket = config.bucket
        self._client = boto3_client(config)

    def get(self, request: Request, cancel: Cancellation) -> Body:
        """See the base class."""
        given: dict[str, str] = {}
        if request.range is not None:
            given["Range"] = request.range.header
        if request.if_match is not None:
            given["IfMatch"] = request.if_match
        if request.version is not None:
            given["VersionId"] = request.version
        location = ObjectLocation(self._bucket, request.key, request.range)
        cancel.check()
        try:
            answer = self._client.get_object(Bucket=self._bucket, Key=request.key, **given)
        except Exception as error:
            raise failure(location, error) from None
        return Boto3Body(location, answer, cancel)

    def close(self) -> None:
        """See the base class."""
        self._client.close()


def failure(location: ObjectLocation, error: Exception) -> OSError:
    """Return an S3 exception for an exception that boto3 raised."""
    if isinstance(error, Misfit):
        return WrongAnswerException(location, str(error))
    if isinstance(error, ClientError):
        return _refused(location, error.response)
    if isinstance(error, NoCredentialsError | PartialCredentialsError):
        return NoCredentialsException(location.path, location.says("no credentials found"))
    if isinstance(error, ReadTimeoutError | ConnectTimeoutError | Urllib3Timeout | TimeoutError):
        return RequestTimeoutException(location, "timeout without a response")
    if isinstance(error, ResponseStreamingError):
        return BodyCutException(location, "the body ended early")
    if isinstance(error, HTTPClientError | BotoConnectionError | Urllib3Error | OSError):
        return ConnectionFailedException(location, "connection failed or lost")
    if isinstance(error, MemoryError):
        raise error
    if isinstance(error, ResponseParserError) or not isinstance(error, BotoCoreError):
        return WrongAnswerException(
            location, f"boto3 can't parse the response: {type(error).__name__}"
        )
    return S3Exception(location, f"{type(error).__name__} in boto3")


def _refused(location: ObjectLocation, response: Mapping[str, Any]) -> OSError:
    metadata = response.get("ResponseMetadata", {})
    status = int(metadata.get("HTTPStatusCode", 0))
    code = str(response.get("Error", {}).get("Code", ""))
    headers = metadata.get("HTTPHeaders", {})
    match = _UNSATISFIED.fullmatch(headers.get("content-range", ""))
    total = int(match[1]) if match else _number(response.get("Error", {}).get("ActualObjectSize"))
    wait = _number(headers.get("retry-after"))
    return of_status(location, status, _WORDS.get(code, code), float(wait or 0), total)


def _number(text: Any) -> int | None:
    if not (isinstance(text, str) and text.isascii() and text.isdecimal()):
        return None
    return int(text) if len(text) <= _DIGITS else None


#: HTTP statuses of the error codes that a bulk delete returns for single keys.
_STATUSES = {
    "AccessDenied": 403,
    "NoSuchKey": 404,
    "NoSuchVersion": 404,
    "SlowDown": 503,
    "ServiceUnavailable": 503,
    "InternalError": 500,
    "OperationAborted": 409,
}
_ANY = {"IfNoneMatch": "*"}


class Boto3Namespace(Namespace):
    """Objects of a bucket, through a boto3 client without retries."""

    def __init__(self, config: S3Config) -> None:
        self._bucket = config.bucket
        self._client = boto3_client(config)

    def head(self, key: str, version: str | None = None) -> ObjectInfo:
        """See the base class."""
        given = {} if version is None else {"VersionId": version}
        answer = self._ask(key, self._client.head_object, **given)
        return ObjectInfo(
            key,
            answer["ContentLength"],
            plain_etag(answer.get("ETag")),
            answer.get("VersionId"),
            _modified(answer),
        )

    def page(
        self, prefix: str, delimiter: str, after: str | None, more: str | None, limit: int
    ) -> Page:
        """See the base class."""
        given: dict[str, Any] = {"Prefix": prefix, "MaxKeys": limit}
        if delimiter:
            given["Delimiter"] = delimiter
        if after is not None:
            given["StartAfter"] = after
        if more is not None:
            given["ContinuationToken"] = more
        location = ObjectLocation(self._bucket, prefix)
        answer = self._send(location, self._client.list_objects_v2, Bucket=self._bucket, **given)
        token = listed(location, answer)
        return Page(
            tuple(_info(location, one) for one in answer.get("Contents", ())),
            tuple(one["Prefix"] for one in answer.get("CommonPrefixes", ())),
            token,
        )

    def put(self, key: str, data: bytes | bytearray, create: bool = False) -> Written:
        """See the base class."""
        given = _ANY if create else {}
        answer = self._create(create, key, self._client.put_object, Body=data, **given)
        return self._written(key, answer)

    def begin(self, key: str) -> str:
        """See the base class."""
        answer = self._ask(key, self._client.create_multipart_upload)
        return str(required(ObjectLocation(self._bucket, key), answer, "UploadId"))

    def part(self, key: str, upload: str, number: int, data: bytes | bytearray) -> str:
        """See the base class."""
        answer = self._ask(
            key, self._client.upload_part, UploadId=upload, PartNumber=number, Body=data
        )
        return str(self._written(key, answer).etag)

    def complete(
        self, key: str, upload: str, etags: Sequence[str], create: bool = False
    ) -> Written:
        """See the base class."""
        parts = [{"PartNumber": n, "ETag": f'"{etag}"'} for n, etag in enumerate(etags, 1)]
        answer = self._create(
            create,
            key,
            self._client.complete_multipart_upload,
            UploadId=upload,
            MultipartUpload={"Parts": parts},
            **(_ANY if create else {}),
        )
        return self._written(key, answer)

    def abort(self, key: str, upload: str) -> None:
        """See the base class."""
        try:
            self._ask(key, self._client.abort_multipart_upload, UploadId=upload)
        except FileNotFoundException:
            return

    def delete(self, keys: Sequence[str]) -> dict[str, PathIOException]:
        """See the base class."""
        answer = self._send(
            ObjectLocation(self._bucket, keys[0]),
            self._client.delete_objects,
            Bucket=self._bucket,
            Delete={"Objects": [{"Key": key} for key in keys], "Quiet": True},
        )
        errors = {str(one.get("Key")): self._refused(one) for one in answer.get("Errors", ())}
        if not errors.keys() <= set(keys):
            raise WrongAnswerException(
                ObjectLocation(self._bucket, keys[0]),
                "the response has errors for keys that were not requested",
            )
        return errors

    def copy(self, source: str, target: str, etag: str | None = None) -> Written:
        """See the base class."""
        location = ObjectLocation(self._bucket, source)
        answer = self._send(
            location,
            self._client.copy_object,
            Bucket=self._bucket,
            Key=target,
            CopySource={"Bucket": self._bucket, "Key": source},
            **_only(etag),
        )
        written = required(location, answer, "CopyObjectResult", "ETag")
        return Written(plain_etag(written), answer.get("VersionId"))

    def copy_part(
        self, source: ObjectInfo, target: str, upload: str, number: int, start: int, stop: int
    ) -> str:
        """See the base class."""
        location = ObjectLocation(self._bucket, source.key)
        answer = self._send(
            location,
            self._client.upload_part_copy,
            Bucket=self._bucket,
            Key=target,
            UploadId=upload,
            PartNumber=number,
            CopySource={"Bucket": self._bucket, "Key": source.key},
            CopySourceRange=f"bytes={start}-{stop - 1}",
            **_only(source.etag),
        )
        return str(plain_etag(required(location, answer, "CopyPartResult", "ETag")))

    def close(self) -> None:
        """See the base class."""
        self._client.close()

    def _create(self, create: bool, key: str, call: Callable[..., Any], **given: Any) -> Any:
        location = ObjectLocation(self._bucket, key)
        try:
            return call(Bucket=self._bucket, Key=key, **given)
        except ClientError as error:
            status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
            there = create and status == 412
            failed = exists(location) if there else failure(location, error)
        except Exception as error:
            failed = failure(location, error)
        raise failed  # not within `except`: the library's error may contain secrets

    def _ask(self, key: str, call: Callable[..., Any], **given: Any) -> Any:
        return self._send(
            ObjectLocation(self._bucket, key), call, Bucket=self._bucket, Key=key, **given
        )

    def _send(self, location: ObjectLocation, call: Callable[..., Any], **given: Any) -> Any:
        try:
            return call(**given)
        except Exception as error:
            failed = failure(location, error)
        raise failed  # as above

    def _refused(self, error: Mapping[str, Any]) -> PathIOException:
        code = str(error.get("Code", ""))
        return of_status(
            ObjectLocation(self._bucket, str(error.get("Key"))), _STATUSES.get(code, 400), code
        )

    def _written(self, key: str, answer: Mapping[str, Any]) -> Written:
        etag = required(ObjectLocation(self._bucket, key), answer, "ETag")
        return Written(plain_etag(etag), answer.get("VersionId"))


def _info(location: ObjectLocation, answer: Mapping[str, Any]) -> ObjectInfo:
    size = required(location, answer, "Size")
    return ObjectInfo(answer["Key"], size, plain_etag(answer.get("ETag")), None, _modified(answer))


def _modified(answer: Mapping[str, Any]) -> float:
    modified = answer.get("LastModified")
    return 0.0 if modified is None else float(modified.timestamp())


def _only(etag: str | None) -> dict[str, str]:
    match = if_match(etag)
    return {} if match is None else {"CopySourceIfMatch": match}
