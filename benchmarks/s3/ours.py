"""fscontract's streams, with either transport."""

from __future__ import annotations

import io
from functools import partial
from typing import Any

from benchmarks.s3.cases import (
    DATA,
    KIB,
    PARQUET,
    PIECE,
    SHORT,
    TEXT,
    Run,
    Take,
    read_columns,
    read_lines,
)
from benchmarks.s3.peer import Peer
from fscontract.contract.api.filesystem import FileRange, FSDataInputStream
from fscontract.implementations.s3.filesystem import S3FileSystem

_POLICY = "fs.option.openfile.read.policy"
_SPLIT_START = "fs.option.openfile.split.start"
_SPLIT_END = "fs.option.openfile.split.end"
#: Value of the option `prefetch` in some rows.
_PREFETCH = "64M"


class Ours(Peer):
    """S3FileSystem with one transport."""

    transport = "auto"

    def connect(self) -> None:
        """Create the clients that all cases share."""
        self.fs = self._filesystem()
        self.prefetching = self._filesystem(prefetch=_PREFETCH)
        self.statuses = {key: self.fs.get_file_status(f"/{key}") for key in self.work.objects}

    def _filesystem(self, **options: Any) -> S3FileSystem:
        return S3FileSystem(
            self.bucket,
            endpoint=self.url,
            access_key=self.server.access_key,
            secret_key=self.server.secret_key,
            region=self.server.region,
            transport=self.transport,
            **options,
        )

    def runs(self, case: str) -> dict[str, Run]:
        """Return the ways of running a case; empty if not supported."""
        name = f"fscontract, {self.transport}"
        known: dict[str, dict[str, Run]] = {
            "open-unknown": {name: self._unknown},
            "open-known": {name: self._known},
            "preads": {name: self._preads},
            "preads-threads": {name: self._threads},
            "sequential": {
                f"{name}, {policy}{note}": partial(self._whole, fs, policy)
                for note, fs in (("", self.fs), (f", prefetch {_PREFETCH}", self.prefetching))
                for policy in ("default", "sequential", "whole-file")
            },
            "parquet": {name: self._parquet, f"{name}, as fsspec": self._fsspec},
            "split": {name: self._split},
        }
        return known.get(
            case,
            {
                name: lambda take: self._ranges(case, take),
                f"{name}, one by one": lambda take: self._one_by_one(case, take),
            },
        )

    def _open(self, key: str, **options: Any) -> FSDataInputStream:
        return self._open_in(self.fs, key, **options)

    def _open_in(self, fs: S3FileSystem, key: str, **options: Any) -> FSDataInputStream:
        builder = fs.open_file(f"/{key}").with_file_status(self.statuses[key])
        for name, value in options.items():
            builder = builder.opt(name, value)
        return builder.build().result()

    def _unknown(self, take: Take) -> None:
        with self.fs.open(f"/{DATA}") as stream:
            _some(stream, KIB, take)

    def _known(self, take: Take) -> None:
        with self._open(DATA) as stream:
            _some(stream, KIB, take)

    def _preads(self, take: Take) -> None:
        self._one_by_one("preads", take)

    def _one_by_one(self, case: str, take: Take) -> None:
        with self._open(DATA) as stream:
            self.each(lambda place: _at(stream, place), self.places(case), take)

    def _threads(self, take: Take) -> None:
        with self._open(DATA) as stream:
            self.threaded(lambda place: _at(stream, place), self.work.preads, take)

    def _ranges(self, case: str, take: Take) -> None:
        ranges = [FileRange(place, SHORT) for place in self.places(case)]
        with self._open(DATA) as stream:
            stream.read_vectored(ranges)
            for item in ranges:
                assert item.data is not None
                take(item.data.result())

    def _whole(self, fs: S3FileSystem, policy: str, take: Take) -> None:
        buffer = bytearray(PIECE)
        view = memoryview(buffer)
        with self._open_in(fs, DATA, **{_POLICY: policy}) as stream:
            while (count := stream.read_into(buffer)) > 0:
                take(view[:count])

    def _parquet(self, take: Take) -> None:
        with self._open(PARQUET, **{_POLICY: "parquet"}) as stream:
            read_columns(stream.as_file(), self.work, take)

    def _fsspec(self, take: Take) -> None:
        path = f"{self.bucket}/{PARQUET}"
        read_columns(path, self.work, take, filesystem=self.fs.as_fsspec())

    def _split(self, take: Take) -> None:
        start, end = self.work.split
        options = {_POLICY: "csv", _SPLIT_START: start, _SPLIT_END: end}
        with (
            self._open(TEXT, **options) as stream,
            io.BufferedReader(stream.as_file(), PIECE) as file,
        ):
            file.seek(start)
            read_lines(file, self.work, take)

    def close(self) -> None:
        """Close threads and connections."""
        super().close()
        self.fs.close()
        self.prefetching.close()


class OursObstore(Ours):
    """S3FileSystem through obstore."""

    transport = "obstore"


class OursBoto3(Ours):
    """S3FileSystem through boto3."""

    transport = "boto3"


def _some(stream: FSDataInputStream, count: int, take: Take) -> None:
    buffer = bytearray(count)
    stream.read_into(buffer)
    take(buffer)


def _at(stream: FSDataInputStream, place: int) -> bytearray:
    buffer = bytearray(SHORT)
    stream.read_fully(place, buffer)
    return buffer
