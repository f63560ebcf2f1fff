"""The compared libraries, each running every case in its best way."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.s3.cases import (
    DATA,
    KIB,
    MIB,
    PARQUET,
    PIECE,
    SHORT,
    TEXT,
    Run,
    Take,
    read_columns,
    read_lines,
)
from benchmarks.s3.peer import Peer, pieces

#: Bytes past a split that a reader requests to finish the last line.
_SLACK = 64 * KIB
#: Caches of s3fs, its default first.
CACHES = ("readahead", "none", "bytes", "blockcache", "mmap", "background", "first", "all")


class S3fs(Peer):
    """s3fs with each of its caches; `cat_ranges` has none."""

    def connect(self) -> None:
        """Create the clients that all cases share."""
        from s3fs import S3FileSystem

        self.fs = S3FileSystem(
            key=self.server.access_key,
            secret=self.server.secret_key,
            endpoint_url=self.url,
            client_kwargs={"region_name": self.server.region},
            skip_instance_cache=True,
        )

    def runs(self, case: str) -> dict[str, Run]:
        """Return the ways of running a case; empty if not supported."""
        if case in ("near", "spread"):
            return {"s3fs cat_ranges": lambda take: self._ranges(case, take)}
        call = getattr(self, f"_{case.replace('-', '_')}", None)
        if call is None:
            return {}
        caches = CACHES if self.work.shape.caches else CACHES[:1]
        return {f"s3fs {cache}": partial(call, cache) for cache in caches}

    def _open(self, key: str, cache: str, **options: Any) -> Any:
        return self.fs.open(f"{self.bucket}/{key}", "rb", cache_type=cache, **options)

    def _open_unknown(self, cache: str, take: Take) -> None:
        with self._open(DATA, cache) as file:
            take(file.read(KIB))

    def _open_known(self, cache: str, take: Take) -> None:
        with self._open(DATA, cache, size=self.work.shape.size) as file:
            take(file.read(KIB))

    def _preads(self, cache: str, take: Take) -> None:
        with self._open(DATA, cache) as file:

            def read(place: int) -> Any:
                file.seek(place)
                return file.read(SHORT)

            self.each(read, self.work.preads, take)

    def _sequential(self, cache: str, take: Take) -> None:
        with self._open(DATA, cache) as file:
            pieces(file, take)

    def _parquet(self, cache: str, take: Take) -> None:
        with self._open(PARQUET, cache) as file:
            read_columns(file, self.work, take)

    def _split(self, cache: str, take: Take) -> None:
        with io.BufferedReader(self._open(TEXT, cache), PIECE) as file:
            file.seek(self.work.split[0])
            read_lines(file, self.work, take)

    def _ranges(self, case: str, take: Take) -> None:
        starts = self.places(case)
        paths = [f"{self.bucket}/{DATA}"] * len(starts)
        for data in self.fs.cat_ranges(paths, starts, [start + SHORT for start in starts]):
            take(data)


class PyArrow(Peer):
    """pyarrow.fs.S3FileSystem."""

    def connect(self) -> None:
        """Create the clients that all cases share."""
        from pyarrow.fs import S3FileSystem

        scheme, place = self.url.split("://")
        self.fs = S3FileSystem(
            access_key=self.server.access_key,
            secret_key=self.server.secret_key,
            region=self.server.region,
            scheme=scheme,
            endpoint_override=place,
        )

    def runs(self, case: str) -> dict[str, Run]:
        """Return the ways of running a case; empty if not supported."""
        known: dict[str, dict[str, Run]] = {
            "open-unknown": {"pyarrow": self._first},
            "open-known": {"pyarrow": self._first},
            "preads": {"pyarrow read_at": lambda take: self._read_at(case, self.each, take)},
            "sequential": {
                "pyarrow": lambda take: self._whole(None, take),
                "pyarrow buffer 8 MiB": lambda take: self._whole(8 * MIB, take),
            },
            "parquet": {"pyarrow": self._parquet},
            "split": {"pyarrow": self._split},
        }
        return known.get(
            case,
            {"pyarrow 16 threads": lambda take: self._read_at(case, self.threaded, take)},
        )

    def _path(self, key: str) -> str:
        return f"{self.bucket}/{key}"

    def _first(self, take: Take) -> None:
        with self.fs.open_input_file(self._path(DATA)) as file:
            take(file.read(KIB))

    def _read_at(self, case: str, reads: Callable[..., None], take: Take) -> None:
        with self.fs.open_input_file(self._path(DATA)) as file:
            reads(lambda place: file.read_at(SHORT, place), self.places(case), take)

    def _whole(self, buffer: int | None, take: Take) -> None:
        with self.fs.open_input_stream(self._path(DATA), buffer_size=buffer) as file:
            pieces(file, take)

    def _parquet(self, take: Take) -> None:
        read_columns(self._path(PARQUET), self.work, take, filesystem=self.fs)

    def _split(self, take: Take) -> None:
        raw: Any = self.fs.open_input_file(self._path(TEXT))
        with io.BufferedReader(raw, MIB) as file:
            file.seek(self.work.split[0])
            read_lines(file, self.work, take)


class Obstore(Peer):
    """obstore without fscontract."""

    def connect(self) -> None:
        """Create the clients that all cases share."""
        from obstore.fsspec import FsspecStore
        from obstore.store import S3Store

        options: dict[str, Any] = {
            "endpoint": self.url,
            "access_key_id": self.server.access_key,
            "secret_access_key": self.server.secret_key,
            "region": self.server.region,
            "client_options": {"allow_http": True},
        }
        self.store = S3Store(self.bucket, **options)
        make: Any = FsspecStore  # the argument has fsspec's type, which is untyped
        self.files = make("s3", skip_instance_cache=True, **options)

    def runs(self, case: str) -> dict[str, Run]:
        """Return the ways of running a case; empty if not supported."""
        known: dict[str, dict[str, Run]] = {
            "open-unknown": {"obstore": self._first},
            "open-known": {"obstore": self._first},
            "preads": {"obstore": lambda take: self.each(self._range, self.work.preads, take)},
            "preads-threads": {
                "obstore": lambda take: self.threaded(self._range, self.work.preads, take)
            },
            "sequential": {"obstore get": self._whole, "obstore open_reader": self._reader},
            "parquet": {"obstore as fsspec": self._parquet},
            "split": {"obstore get": self._split},
        }
        return known.get(case, {"obstore get_ranges": lambda take: self._ranges(case, take)})

    def _range(self, place: int, length: int = SHORT) -> Any:
        import obstore

        return obstore.get_range(self.store, DATA, start=place, length=length)

    def _first(self, take: Take) -> None:
        take(self._range(0, KIB))

    def _ranges(self, case: str, take: Take) -> None:
        import obstore

        starts = self.places(case)
        lengths = [SHORT] * len(starts)
        for data in obstore.get_ranges(self.store, DATA, starts=starts, lengths=lengths):
            take(data)

    def _whole(self, take: Take) -> None:
        import obstore

        for chunk in obstore.get(self.store, DATA).stream(min_chunk_size=PIECE):
            take(chunk)

    def _reader(self, take: Take) -> None:
        import obstore

        file = obstore.open_reader(self.store, DATA, size=self.work.shape.size)
        pieces(file, take)

    def _parquet(self, take: Take) -> None:
        with self.files.open(f"{self.bucket}/{PARQUET}", "rb") as file:
            read_columns(file, self.work, take)

    def _split(self, take: Take) -> None:
        import obstore

        start, end = self.work.split
        found = obstore.get(self.store, TEXT, options={"range": (start, end + _SLACK)})
        with io.BufferedReader(_Chunks(iter(found.stream(min_chunk_size=MIB))), PIECE) as file:
            read_lines(file, self.work, take)


class _Chunks(io.RawIOBase):
    """Chunks as a file."""

    def __init__(self, chunks: Any) -> None:
        self._chunks = chunks
        self._chunk = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._chunk:
            self._chunk = memoryview(next(self._chunks, b""))
        count = min(len(buffer), len(self._chunk))
        buffer[:count] = self._chunk[:count]
        self._chunk = self._chunk[count:]
        return count


class OpenDal(Peer):
    """opendal: `read` of an operator, or a file, plain or with concurrently fetched chunks."""

    def connect(self) -> None:
        """Create the clients that all cases share."""
        import opendal

        self.operator = opendal.Operator(
            "s3",
            bucket=self.bucket,
            endpoint=self.url,
            region=self.server.region,
            access_key_id=self.server.access_key,
            secret_access_key=self.server.secret_key,
            disable_config_load="true",
        )

    def runs(self, case: str) -> dict[str, Run]:
        """Return the ways of running a case; empty if not supported."""
        known: dict[str, dict[str, Run]] = {
            "open-unknown": {"opendal read": self._first},
            "open-known": {"opendal read": self._first},
            "preads": {"opendal read": lambda take: self.each(self._range, self.work.preads, take)},
            "sequential": {
                "opendal open": lambda take: self._whole({}, take),
                "opendal open, 4 x 8 MiB": lambda take: self._whole(
                    {"chunk": 8 * MIB, "concurrent": 4}, take
                ),
            },
            "parquet": {"opendal open": self._parquet},
            "split": {"opendal open": self._split},
        }
        return known.get(
            case,
            {"opendal 16 threads": lambda t: self.threaded(self._range, self.places(case), t)},
        )

    def _range(self, place: int, length: int = SHORT) -> Any:
        return self.operator.read(DATA, offset=place, size=length)

    def _first(self, take: Take) -> None:
        take(self._range(0, KIB))

    def _whole(self, options: dict[str, Any], take: Take) -> None:
        with self.operator.open(DATA, "rb", **options) as file:
            pieces(file, take)

    def _parquet(self, take: Take) -> None:
        raw: Any = self.operator.open(PARQUET, "rb")
        with io.BufferedReader(raw, PIECE) as file:  # its own read may be short
            read_columns(file, self.work, take)

    def _split(self, take: Take) -> None:
        raw: Any = self.operator.open(TEXT, "rb")
        with io.BufferedReader(raw, PIECE) as file:
            file.seek(self.work.split[0])
            read_lines(file, self.work, take)


class Boto3(Peer):
    """boto3's get_object."""

    def connect(self) -> None:
        """Create the clients that all cases share."""
        import boto3
        from botocore.config import Config

        self.client = boto3.client(
            "s3",
            endpoint_url=self.url,
            aws_access_key_id=self.server.access_key,
            aws_secret_access_key=self.server.secret_key,
            region_name=self.server.region,
            config=Config(s3={"addressing_style": "path"}, max_pool_connections=32),
        )

    def runs(self, case: str) -> dict[str, Run]:
        """Return the ways of running a case; empty if not supported."""
        known: dict[str, dict[str, Run]] = {
            "open-unknown": {"boto3": self._first},
            "open-known": {"boto3": self._first},
            "preads": {"boto3": lambda take: self.each(self._range, self.work.preads, take)},
            "sequential": {"boto3": self._whole},
            "parquet": {"boto3, whole object": self._parquet},
            "split": {"boto3": self._split},
        }
        return known.get(
            case, {"boto3 16 threads": lambda t: self.threaded(self._range, self.places(case), t)}
        )

    def _get(self, key: str, wanted: str = "bytes=0-") -> Any:
        return self.client.get_object(Bucket=self.bucket, Key=key, Range=wanted)["Body"]

    def _range(self, place: int, length: int = SHORT) -> Any:
        return self._get(DATA, f"bytes={place}-{place + length - 1}").read()

    def _first(self, take: Take) -> None:
        take(self._range(0, KIB))

    def _whole(self, take: Take) -> None:
        with self._get(DATA) as body:
            pieces(body, take)

    def _parquet(self, take: Take) -> None:
        with self._get(PARQUET) as body:
            read_columns(io.BytesIO(body.read()), self.work, take)

    def _split(self, take: Take) -> None:
        start, end = self.work.split
        body = self._get(TEXT, f"bytes={start}-{end + _SLACK - 1}")
        with io.BufferedReader(body, MIB) as file:
            read_lines(file, self.work, take)

    def close(self) -> None:
        """Close threads and connections."""
        super().close()
        self.client.close()
