"""What is asked of the source: options that go together, and the inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from fscontract.implementations.spark.places import Place
from fscontract.pipeline.blockreader.compressed import INFER
from fscontract.pipeline.datasource.errors import SourceException
from fscontract.pipeline.datasource.options import BY_NAME, PARQUET, read_options
from fscontract.pipeline.datasource.paths import paths_of, places_of

_RECORDS = ("lines", "slices", "records")
#: The options that some readers alone take.
_OF_READERS = {
    "valueType": _RECORDS,
    "dataOffset": _RECORDS,
    "compression": _RECORDS,
    "bufferSize": _RECORDS,
    "delimiter": ("lines", "records"),
    "delimiterHex": ("lines", "records"),
    "maxRecordLength": ("lines", "records"),
    "onTooLong": ("lines", "records"),
    "dropBlank": ("lines", "records"),
    "stripBom": ("lines", "records"),
    "recordLength": ("records",),
    "sliceSize": ("slices",),
}
#: The options of lines, which records of fixed width do not take.
_OF_LINES = [
    name for name, readers in _OF_READERS.items() if "lines" in readers and "slices" not in readers
]


@dataclass(frozen=True)
class Request:
    """The inputs, the filesystem they are in, and the values of all options."""

    paths: tuple[str, ...]
    place: Place
    values: Mapping[str, Any]
    #: The filesystem of `windowLocation`.
    windows: Place | None = None

    @classmethod
    def of(cls, options: Mapping[str, str]) -> Request:
        """What the options of Spark come to; SourceException."""
        values = read_options(options)
        given = {BY_NAME[k.lower()].name for k in options if k.lower() in BY_NAME}
        _check(values, given)
        paths = paths_of(options)
        place, windows = places_of(paths, values["windowLocation"], options)
        if (where := values["metadataDir"]) is not None:
            place, _ = places_of((*paths, where), None, options)
        return cls(paths, place, values, windows)

    @property
    def streaming(self) -> bool:
        """Whether it is for a stream."""
        return self.values["windowLocation"] is not None

    @property
    def parquet(self) -> bool:
        """Whether the files are Parquet."""
        return bool(self.values["reader"] == PARQUET)

    @property
    def binary(self) -> bool:
        """Whether values are bytes."""
        kind = self.values["valueType"]
        return (kind or ("string" if self.values["reader"] == "lines" else "binary")) == "binary"

    @property
    def compression(self) -> str | None:
        """As reader contexts take it."""
        chosen: str = self.values["compression"]
        return {"infer": INFER, "none": None}.get(chosen, chosen)

    @property
    def delimiter(self) -> bytes | None:
        """What ends a record, None for the ends of lines."""
        text: str | None = self.values["delimiter"]
        found: bytes | None = self.values["delimiterHex"]
        return found if text is None else text.encode()

    def with_paths(self, paths: list[str]) -> Request:
        """The same for other inputs."""
        return replace(self, paths=tuple(paths))

    def for_mode(self, streaming: bool) -> Request:
        """Itself, if its options are for this mode; SourceException."""
        if streaming and not self.streaming:
            raise SourceException(
                "a stream needs option 'windowLocation': a directory of its own, say one below its"
                " checkpoint"
            )
        if streaming and self.parquet:
            raise SourceException("option 'reader' can't be 'parquet' for a stream")
        if self.streaming and not streaming:
            raise SourceException("option 'windowLocation' is for a stream: spark.readStream")
        return self


def _check(values: Mapping[str, Any], given: set[str]) -> None:
    """SourceException for options that do not go together."""
    reader = values["reader"]
    wrong = [name for name in _OF_READERS if name in given and reader not in _OF_READERS[name]]
    fixed = values["recordLength"] is not None
    delimited = {"delimiter", "delimiterHex"} & given
    if reader == "records" and fixed:
        wrong += [name for name in _OF_LINES if name in given]
    if wrong:
        kind = "records of fixed width" if reader == "records" else reader
        raise SourceException(f"option {wrong[0]!r} is not for {kind}")
    if reader == "records" and not fixed and not delimited:
        raise SourceException("records need option 'delimiter', 'delimiterHex' or 'recordLength'")
    if len(delimited) == 2:
        raise SourceException("options 'delimiter' and 'delimiterHex' exclude each other")
    if values["minPartitions"] > values["maxPartitions"]:
        raise SourceException("option 'minPartitions' is above 'maxPartitions'")
    if values["metadataDir"] is not None and not values["metadata"]:
        raise SourceException("option 'metadataDir' needs option 'metadata'")
    mode = "batch" if values["windowLocation"] is None else "stream"
    for name in sorted(given):
        where = BY_NAME[name.lower()].where
        if where not in ("", mode):
            other = "a stream, which has 'windowLocation'" if mode == "batch" else "no stream"
            raise SourceException(f"option {name!r} is for {other}")
