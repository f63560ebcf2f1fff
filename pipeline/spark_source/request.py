"""Validation of the options of a read, and resolution of its inputs and filesystems."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fscontract.contract.api.errors import FileNotFoundException, IllegalArgumentException
from fscontract.contract.api.filesystem import FileSystem
from fscontract.implementations.spark.locations import FileLocation
from fscontract.implementations.spark.session import is_local, without_secrets
from fscontract.pipeline.blockreader.compression import INFER
from fscontract.pipeline.blocks import bare_path
from fscontract.pipeline.locations import (
    LOCAL,
    STORAGE,
    check_no_credentials,
    filesystem_url,
    is_url,
    make_location,
)
from fscontract.pipeline.spark_source.errors import SourceException
from fscontract.pipeline.spark_source.options import (
    BY_NAME,
    LOCATIONS,
    PARQUET,
    PATHS,
    options_of_s3,
    options_of_storage,
    parse_options,
)

_MAGIC = re.compile(r"[*?\[{]")


def absolute_locations(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options with absolute locations, relative to the working directory.

    Spark creates sources in processes of the driver, which have its working directory.
    """
    absolute = dict(options)
    for key, text in options.items():
        if key.lower() == "paths":
            absolute[key] = json.dumps([_absolute(path) for path in _listed(text)])
        elif key.lower() in LOCATIONS:
            absolute[key] = _absolute(text)
    return absolute


def _absolute(path: str) -> str:
    bare = not path or path.startswith("/") or is_url(path)
    return path if bare else os.path.abspath(path)


def _listed(text: str) -> list[str]:
    """Return the paths of a list given to `load`; raise SourceException."""
    try:
        paths = json.loads(text) if text else []
    except ValueError:
        paths = None
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise SourceException(
            f"option 'paths' can't be {text!r:.80}: expected a JSON list of paths"
        )
    return paths


def names_input(options: Mapping[str, str]) -> bool:
    """Return True if the options have a path."""
    return any(text for key, text in options.items() if key.lower() in PATHS)


def paths_of(options: Mapping[str, str]) -> tuple[str, ...]:
    """Return the arguments of `load`, which Spark passes as one text, or as a JSON list."""
    own = {key.lower(): text for key, text in options.items()}
    paths = [own["path"]] if own.get("path") else []
    paths += _listed(own.get("paths", ""))
    if not paths:
        raise SourceException(
            "missing path: use .load(path), .load([path, ...]) or .option('path', path), and "
            "in SQL: options (path '...'); a table that was created with explicit columns has no "
            "path: omit its columns"
        )
    return tuple(dict.fromkeys(paths))


def path_of(options: Mapping[str, str], what: str) -> str:
    """Return the only path of `load`; raise SourceException for several ones."""
    path, *further = paths_of(options)
    if further:
        raise SourceException(f"expected the path of one {what}")
    return path


def locations_of(
    paths: Sequence[str], window_location: str | None, options: Mapping[str, str]
) -> tuple[FileLocation, FileLocation | None]:
    """Return the filesystem of all paths, and that of the windows, if there is a location.

    Raise SourceException if the paths are in several filesystems.
    """
    try:
        urls = list(dict.fromkeys(map(filesystem_url, paths)))
        windows = None if window_location is None else filesystem_url(window_location)
        if len(urls) > 1:
            raise SourceException(f"all paths must be in one filesystem, got {' and '.join(urls)}")
        given = _Options.of(options)
        given.check([urls[0], *filter(None, [windows])])
        location = make_location(urls[0], given.for_url(urls[0], urls[0]))
        if windows is None:
            return location, None
        return location, make_location(windows, given.for_url(windows, urls[0]))
    except IllegalArgumentException as error:
        raise SourceException(str(error)) from None


@dataclass(frozen=True)
class _Options:
    """Options of buckets, and of filesystems that fsspec opens."""

    s3: Mapping[str, str]
    storage: Mapping[str, str]

    @classmethod
    def of(cls, options: Mapping[str, str]) -> _Options:
        return cls(options_of_s3(options), options_of_storage(options))

    def check(self, urls: Sequence[str]) -> None:
        """Raise SourceException for a credential, or an option that no URL needs."""
        _check_no_keys(self.s3)
        if self.s3 and not any(url.startswith("s3://") for url in urls):
            name = min(self.s3) if min(self.s3).startswith("fs.") else f"s3.{min(self.s3)}"
            raise SourceException(f"option {name!r} requires an s3:// URL")
        by_fsspec = [url for url in urls if url != LOCAL and not url.startswith("s3://")]
        if self.storage and not by_fsspec:
            raise SourceException(
                f"option {STORAGE + min(self.storage)!r} requires a URL that fsspec opens, such as "
                "ftp:// or gs://"
            )
        for url in by_fsspec:
            check_no_credentials(url, self.storage)
            if url.startswith("memory:"):
                raise SourceException(
                    "memory: URLs can't be read on Spark: each executor has its own memory"
                )

    def for_url(self, url: str, first: str) -> Mapping[str, str]:
        """Return the options of a filesystem; storage options are for the protocol of the paths."""
        if url.startswith("s3://"):
            return self.s3
        return self.storage if url.partition(":")[0] == first.partition(":")[0] else {}


def _check_no_keys(options: Mapping[str, str]) -> None:
    if not options:
        return
    from fscontract.implementations.s3.options import OPTIONS, secret

    keys = tuple(n for o in OPTIONS if o.kind is secret for n in (o.name, *o.s3a))
    for name in options:
        if name.endswith(keys):
            raise SourceException(
                f"option {name!r} must not be set: keys would be sent to executors, which find "
                "them in their environment, the AWS files, or a role"
            )


def expand(fs: FileSystem, paths: Sequence[str]) -> list[str]:
    """Replace glob patterns by the paths they match; raise SourceException for a missing input.

    An existing path with pattern characters is not a pattern.
    """
    paths_found: dict[str, None] = {}
    for path in paths:
        bare = bare_path(path)
        front = path[: len(path) - len(bare)]
        matches = [bare] if _is_there(fs, bare) else list(_matches(fs, bare))
        if not matches:
            kind = "no file or directory matches" if _MAGIC.search(bare) else "input not found:"
            raise SourceException(f"{kind} {path!r}")
        paths_found.update((f"{front}{match}", None) for match in matches)
    return list(paths_found)


def check_no_patterns(fs: FileSystem, paths: Sequence[str]) -> None:
    """Raise SourceException for a glob pattern, unless a path with its characters exists."""
    for path in paths:
        if _MAGIC.search(bare_path(path)) and not _is_there(fs, bare_path(path)):
            raise SourceException(
                f"glob pattern not supported for a stream: {path!r}; use a directory and option "
                "'filePattern'"
            )


def _matches(fs: FileSystem, pattern: str) -> Iterator[str]:
    """Yield the paths that a pattern matches, in the order of the listings."""
    if not _MAGIC.search(pattern):
        return
    *parents, last = pattern.strip("/").split("/")
    directories = [""]
    for element in parents:
        directories = [
            path for at in directories for path in _step(fs, at, element, directory=True)
        ]
    for at in directories:
        yield from _step(fs, at, last, directory=False)


def _step(fs: FileSystem, at: str, element: str, directory: bool) -> Iterator[str]:
    """Yield the matches of a pattern's element in the directory `at`."""
    if not _MAGIC.search(element):
        path = f"{at}/{element}"
        if directory or _is_there(fs, path):
            yield path
        return
    expression = _expression(element)
    try:
        for status in fs.list_status(at or "/"):
            name = status.path.rpartition("/")[2]
            child = status.path == f"{at}/{name}"  # a file lists itself
            if child and expression.fullmatch(name) and (status.is_directory or not directory):
                yield status.path
    except FileNotFoundException:
        return


def _expression(element: str) -> re.Pattern[str]:
    """Compile Hadoop's pattern: `*`, `?`, `[a-c]`, `[^a-c]` and `{ab,cd}`."""
    parts: list[str] = []
    depth, at = 0, 0
    while at < len(element):
        char = element[at]
        close = element.find("]", at + 2) if char == "[" else -1
        if char == "[" and close > 0:
            body = element[at + 1 : close].replace("\\", "\\\\").replace("[", "\\[")
            parts.append(f"[^{body[1:]}]" if body[0] in "!^" else f"[{body}]")
            at = close
        elif char == "{" or (char == "}" and depth):
            depth += 1 if char == "{" else -1
            parts.append("(?:" if char == "{" else ")")
        else:
            plain = "|" if char == "," and depth else re.escape(char)
            parts.append({"*": ".*", "?": "."}.get(char, plain))
        at += 1
    try:
        return re.compile("".join(parts), re.DOTALL)
    except re.error as error:
        raise SourceException(f"invalid pattern {element!r:.80}: {error}") from None


def _is_there(fs: FileSystem, path: str) -> bool:
    try:
        fs.get_file_status(path)
    except FileNotFoundException:
        return False
    return True


_RECORDS = ("lines", "slices", "records")
#: Options that only some readers support.
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
#: Options of lines, which fixed-width records do not support.
_OF_LINES = [
    name for name, readers in _OF_READERS.items() if "lines" in readers and "slices" not in readers
]


@dataclass(frozen=True)
class ReadRequest:
    """Inputs, their filesystem, and the values of all options."""

    paths: tuple[str, ...]
    location: FileLocation
    values: Mapping[str, Any]
    #: Filesystem of `windowLocation`.
    windows: FileLocation | None = None

    @classmethod
    def of(cls, options: Mapping[str, str]) -> ReadRequest:
        """Parse and check Spark's options; raise SourceException."""
        values = parse_options(options)
        names = {BY_NAME[k.lower()].name for k in options if k.lower() in BY_NAME}
        _check(values, names)
        paths = paths_of(options)
        location, windows = locations_of(paths, values["windowLocation"], options)
        if (where := values["metadataDir"]) is not None:
            location, _ = locations_of((*paths, where), None, options)
        return cls(paths, location, values, windows)

    @property
    def streaming(self) -> bool:
        """True for a stream."""
        return self.values["windowLocation"] is not None

    @property
    def parquet(self) -> bool:
        """True if the files are Parquet."""
        return bool(self.values["reader"] == PARQUET)

    @property
    def binary(self) -> bool:
        """True if values are bytes."""
        kind = self.values["valueType"]
        return (kind or ("string" if self.values["reader"] == "lines" else "binary")) == "binary"

    @property
    def compression(self) -> str | None:
        """Compression for reader contexts."""
        chosen: str = self.values["compression"]
        return {"infer": INFER, "none": None}.get(chosen, chosen)

    @property
    def delimiter(self) -> bytes | None:
        """Record delimiter, None for line ends."""
        text: str | None = self.values["delimiter"]
        binary: bytes | None = self.values["delimiterHex"]
        return binary if text is None else text.encode()

    def with_paths(self, paths: list[str]) -> ReadRequest:
        """Return the request for other inputs."""
        return replace(self, paths=tuple(paths))

    def for_mode(self, streaming: bool) -> ReadRequest:
        """Return the request if its options fit the mode; raise SourceException."""
        if streaming and not self.streaming:
            raise SourceException(
                "a stream requires option 'windowLocation': a separate directory, for example "
                "below its checkpoint"
            )
        if streaming and self.parquet:
            raise SourceException("option 'reader' can't be 'parquet' for a stream")
        if self.streaming and not streaming:
            raise SourceException("option 'windowLocation' requires a stream: spark.readStream")
        return self

    def check_windows(self, master: str) -> None:
        """Raise SourceException for windows on one machine of a cluster."""
        where = str(self.values["windowLocation"])
        if not is_local(master) and not is_url(where):
            raise SourceException(
                f"option 'windowLocation' is the local path {where!r:.200}, but Spark runs on "
                f"{without_secrets(master)}: the next driver may start on another machine, without "
                "the windows; use a URL such as s3://bucket/path, or file:///path for a directory "
                "that all machines share"
            )


def _check(values: Mapping[str, Any], names: set[str]) -> None:
    """Raise SourceException for incompatible options."""
    reader = values["reader"]
    wrong = [name for name in _OF_READERS if name in names and reader not in _OF_READERS[name]]
    fixed = values["recordLength"] is not None
    delimited = {"delimiter", "delimiterHex"} & names
    if reader == "records" and fixed:
        wrong += [name for name in _OF_LINES if name in names]
    if wrong:
        kind = "fixed-width records" if reader == "records" else reader
        raise SourceException(f"option {wrong[0]!r} is not supported for {kind}")
    if reader == "records" and not fixed and not delimited:
        raise SourceException(
            "reader 'records' requires option 'delimiter', 'delimiterHex' or 'recordLength'"
        )
    if len(delimited) == 2:
        raise SourceException("options 'delimiter' and 'delimiterHex' are mutually exclusive")
    if values["minPartitions"] > values["maxPartitions"]:
        raise SourceException("option 'minPartitions' must not exceed 'maxPartitions'")
    if values["metadataDir"] is not None and not values["metadata"]:
        raise SourceException("option 'metadataDir' requires option 'metadata'")
    mode = "batch" if values["windowLocation"] is None else "stream"
    for name in sorted(names):
        if BY_NAME[name.lower()].mode not in ("", mode):
            required = "a stream, with option 'windowLocation'" if mode == "batch" else "a batch"
            raise SourceException(f"option {name!r} is supported only for {required}")
