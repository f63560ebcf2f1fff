"""Ranged GETs through boto3."""

from __future__ import annotations

import re
from collections.abc import Mapping
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

from fscontract.implementations.s3.answers import Misfit, extent_of
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.failures import (
    BodyCutException,
    ConnectionFailedException,
    NoCredentialsException,
    Place,
    RequestTimeoutException,
    S3Exception,
    WrongAnswerException,
    of_status,
)
from fscontract.implementations.s3.source import (
    Body,
    Cancellation,
    RangeSource,
    Request,
)
from fscontract.implementations.s3.transports.clients import boto3_client

#: At most so many bytes of a body come at a time.
_CHUNK = 1 << 20
_UNSATISFIED = re.compile(r"bytes \*/([0-9]{1,19})")
#: More digits than any number that an answer has.
_DIGITS = 19
#: Statuses whose answers to a HEAD have no code.
_WORDS = {"404": "NoSuchKey", "412": "PreconditionFailed"}


class Boto3Body(Body):
    """The answer to one GET."""

    def __init__(self, place: Place, answer: Mapping[str, Any], cancel: Cancellation) -> None:
        self._place = place
        self._cancel = cancel
        self._raw: Any = answer["Body"]._raw_stream
        told = answer["ResponseMetadata"]
        extent = extent_of(told["HTTPStatusCode"], told["HTTPHeaders"])
        self.offset, self.length, self.total = extent
        self.etag = answer.get("ETag")
        self.version = answer.get("VersionId")

    def chunk(self) -> memoryview:
        """As the port has it."""
        with self._cancel.calling(self._abort):
            self._cancel.check()
            try:
                return memoryview(self._raw.read(_CHUNK))
            except Exception as error:
                self._cancel.check()  # then that is why
                if isinstance(error, ValueError | AttributeError):  # closed under the read
                    what = "the connection was closed"
                    raise ConnectionFailedException(self._place, what) from None
                raise failure(self._place, error) from None

    def close(self) -> None:
        """As the port has it."""
        # A connection whose body is read to its end has gone back to the pool by itself.
        self._raw.close()

    def _abort(self) -> None:
        """End a read that another thread waits in, which closing would wait for."""
        shutdown = getattr(self._raw, "shutdown", None)  # urllib3 2.3 and later
        if shutdown is not None:
            try:
                shutdown()
            except (ValueError, OSError, RuntimeError):  # it has ended by itself
                return


class Boto3Source(RangeSource):
    """The objects of a bucket, through `get_object` of a boto3 client that tries nothing again.

    A request whose headers have not come yet can't be cancelled; it ends by the time-out.
    """

    def __init__(self, config: S3Config) -> None:
        self._bucket = config.bucket
        self._client = boto3_client(config)

    def get(self, request: Request, cancel: Cancellation) -> Body:
        """As the port has it."""
        given: dict[str, str] = {}
        if request.range is not None:
            given["Range"] = request.range.header
        if request.if_match is not None:
            given["IfMatch"] = request.if_match
        if request.version is not None:
            given["VersionId"] = request.version
        place = Place(self._bucket, request.key, request.range)
        cancel.check()
        try:
            answer = self._client.get_object(Bucket=self._bucket, Key=request.key, **given)
        except Exception as error:
            raise failure(place, error) from None
        return Boto3Body(place, answer, cancel)

    def close(self) -> None:
        """As the port has it."""
        self._client.close()


def failure(place: Place, error: Exception) -> OSError:
    """Return one of our exceptions for one of a request that boto3 sent."""
    if isinstance(error, Misfit):
        return WrongAnswerException(place, str(error))
    if isinstance(error, ClientError):
        return _refused(place, error.response)
    if isinstance(error, NoCredentialsError | PartialCredentialsError):
        return NoCredentialsException(place.path, place.says("no credentials were found"))
    if isinstance(error, ReadTimeoutError | ConnectTimeoutError | Urllib3Timeout | TimeoutError):
        return RequestTimeoutException(place, "no answer in time")
    if isinstance(error, ResponseStreamingError):
        return BodyCutException(place, "the body ended too early")
    if isinstance(error, HTTPClientError | BotoConnectionError | Urllib3Error | OSError):
        return ConnectionFailedException(place, "no connection, or it broke off")
    if isinstance(error, MemoryError):
        raise error
    if isinstance(error, ResponseParserError) or not isinstance(error, BotoCoreError):
        return WrongAnswerException(place, f"boto3 can't read the answer: {type(error).__name__}")
    return S3Exception(place, f"{type(error).__name__} of boto3")


def _refused(place: Place, response: Mapping[str, Any]) -> OSError:
    told = response.get("ResponseMetadata", {})
    status = int(told.get("HTTPStatusCode", 0))
    code = str(response.get("Error", {}).get("Code", ""))
    headers = told.get("HTTPHeaders", {})
    found = _UNSATISFIED.fullmatch(headers.get("content-range", ""))
    total = int(found[1]) if found else _number(response.get("Error", {}).get("ActualObjectSize"))
    wait = _number(headers.get("retry-after"))
    return of_status(place, status, _WORDS.get(code, code), float(wait or 0), total)


def _number(text: Any) -> int | None:
    if not (isinstance(text, str) and text.isascii() and text.isdecimal()):
        return None
    return int(text) if len(text) <= _DIGITS else None
