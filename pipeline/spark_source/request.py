"""Check the options of a read together, and resolve its inputs and their filesystems."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fscontract.contract.api.errors import FileNotFoundException
from fscontract.contract.api.filesystem import FileSystem
from fscontract.implementations.spark.locations import FileLocation, LocalLocation, location_of
from fscontract.pipeline.blockreader.compression import INFER
from fscontract.pipeline.blocks import bare_path
from fscontract.pipeline.spark_source.errors import SourceException
from fscontract.pipeline.spark_source.options import (
    BY_NAME,
    LOCATIONS,
    PARQUET,
    PATHS,
    options_of_s3,
    parse_options,
)

_S3 = ("s3", "s3a", "s3n")
_MAGIC = re.compile(r"[*?\[{]")
_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")


def absolute_locations(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options with absolute locations: a relative path is below the working directory.

    Spark makes sources in processes of the driver, which have its working directory.
    """
    absolute = dict(options)
    for key, text in options.items():
        if key.lower() == "paths":
            absolute[key] = json.dumps([_absolute(path) for path in _listed(text)])
        elif key.lower() in LOCATIONS:
            absolute[key] = _absolute(text)
    return absolute


def _absolute(path: str) -> str:
    bare = not path or path.startswith("/") or _URI.match(path)
    return path if bare else os.path.abspath(path)


def _listed(text: str) -> list[str]:
    """Return the paths that `load` was given as a list; SourceException."""
    try:
        paths = json.loads(text) if text else []
    except ValueError:
        paths = None
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise SourceException(f"option 'paths' can't be {text!r:.80}: a list of paths as JSON")
    return paths


def names_input(options: Mapping[str, str]) -> bool:
    """Return whether the options have a path."""
    return any(text for key, text in options.items() if key.lower() in PATHS)


def paths_of(options: Mapping[str, str]) -> tuple[str, ...]:
    """Return the arguments of `load`, as Spark passes them on: one text, or a list as JSON."""
    own = {key.lower(): text for key, text in options.items()}
    paths = [own["path"]] if own.get("path") else []
    paths += _listed(own.get("paths", ""))
    if not paths:
        raise SourceException(
            "no path: .load(path), .load([path, ...]) or .option('path', path); a table that was"
            " created with columns of its own has none: leave out its columns"
        )
    return tuple(dict.fromkeys(paths))


def locations_of(
    paths: Sequence[str], window_location: str | None, options: Mapping[str, str]
) -> tuple[FileLocation, FileLocation | None]:
    """Return the filesystem of all paths, and that of the windows, if there is a location.

    SourceException if the paths are in several.
    """
    urls = list(dict.fromkeys(map(_where, paths)))
    if len(urls) > 1:
        raise SourceException(f"paths are in one filesystem, not in {' and '.join(urls)}")
    windows = None if window_location is None else _where(window_location)
    own = options_of_s3(options)
    _check_no_keys(own)
    if own and not f"{urls[0]} {windows}".count("s3://"):
        name = min(own) if min(own).startswith("fs.") else f"s3.{min(own)}"
        raise SourceException(f"option {name!r} is for the URL of a bucket")
    return _location(urls[0], own), None if windows is None else _location(windows, own)


def _location(where: str, options: Mapping[str, str]) -> FileLocation:
    return location_of(where, options) if where.startswith("s3://") else LocalLocation()


def _where(path: str) -> str:
    """Return the URL of a path's filesystem; SourceException if executors can't read it."""
    scheme_match = _URI.match(path)
    scheme = "file" if scheme_match is None else scheme_match[1].lower()
    bare = bare_path(path)
    authority = (
        "" if scheme_match is None else path[scheme_match.end() : len(path) - len(bare)].lstrip("/")
    )
    if not bare.startswith("/"):
        raise SourceException(f"the path of a URI must be absolute: {path!r:.200}")
    if scheme == "file" and authority in ("", "localhost"):
        return "file:///"
    if scheme in _S3 and authority and "@" not in authority:
        return f"s3://{authority}"
    raise SourceException(f"no path, file:///path or s3://bucket/path: {scheme}:")


def _check_no_keys(options: Mapping[str, str]) -> None:
    if not options:
        return
    from fscontract.implementations.s3.options import OPTIONS, secret

    keys = tuple(n for o in OPTIONS if o.kind is secret for n in (o.name, *o.s3a))
    for name in options:
        if name.endswith(keys):
            raise SourceException(
                f"option {name!r} is a key, and would be sent around: executors find keys in"
                " their environment, the files of AWS, or a role"
            )


def expand(fs: FileSystem, paths: Sequence[str]) -> list[str]:
    """Replace patterns by the paths they match; SourceException for a missing input.

    A path with the characters of a pattern that is there is no pattern.
    """
    paths_found: dict[str, None] = {}
    for path in paths:
        bare = bare_path(path)
        front = path[: len(path) - len(bare)]
        matches = [bare] if _is_there(fs, bare) else list(_matches(fs, bare))
        if not matches:
            kind = "no file or directory matches" if _MAGIC.search(bare) else "no such input:"
            raise SourceException(f"{kind} {path!r}")
        paths_found.update((f"{front}{match}", None) for match in matches)
    return list(paths_found)


def check_no_patterns(fs: FileSystem, paths: Sequence[str]) -> None:
    """SourceException for a pattern; a path with its characters that is there is none."""
    for path in paths:
        if _MAGIC.search(bare_path(path)) and not _is_there(fs, bare_path(path)):
            raise SourceException(
                f"a stream takes directories and files, and no pattern such as {path!r}; option"
                " 'filePattern' is for the names of files"
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
    """Yield what an element of a pattern stands for in the directory `at`."""
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
        raise SourceException(f"no pattern: {element!r:.80}: {error}") from None


def _is_there(fs: FileSystem, path: str) -> bool:
    try:
        fs.get_file_status(path)
    except FileNotFoundException:
        return False
    return True


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
class ReadRequest:
    """The inputs, the filesystem they are in, and the values of all options."""

    paths: tuple[str, ...]
    location: FileLocation
    values: Mapping[str, Any]
    #: The filesystem of `windowLocation`.
    windows: FileLocation | None = None

    @classmethod
    def of(cls, options: Mapping[str, str]) -> ReadRequest:
        """Parse and check the options of Spark; SourceException."""
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
        """Return whether it is for a stream."""
        return self.values["windowLocation"] is not None

    @property
    def parquet(self) -> bool:
        """Return whether the files are Parquet."""
        return bool(self.values["reader"] == PARQUET)

    @property
    def binary(self) -> bool:
        """Return whether values are bytes."""
        kind = self.values["valueType"]
        return (kind or ("string" if self.values["reader"] == "lines" else "binary")) == "binary"

    @property
    def compression(self) -> str | None:
        """Return the compression as reader contexts take it."""
        chosen: str = self.values["compression"]
        return {"infer": INFER, "none": None}.get(chosen, chosen)

    @property
    def delimiter(self) -> bytes | None:
        """Return what ends a record, None for the ends of lines."""
        text: str | None = self.values["delimiter"]
        binary: bytes | None = self.values["delimiterHex"]
        return binary if text is None else text.encode()

    def with_paths(self, paths: list[str]) -> ReadRequest:
        """Return the same for other inputs."""
        return replace(self, paths=tuple(paths))

    def for_mode(self, streaming: bool) -> ReadRequest:
        """Return the request if its options fit the mode; SourceException."""
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


def _check(values: Mapping[str, Any], names: set[str]) -> None:
    """SourceException for options that do not go together."""
    reader = values["reader"]
    wrong = [name for name in _OF_READERS if name in names and reader not in _OF_READERS[name]]
    fixed = values["recordLength"] is not None
    delimited = {"delimiter", "delimiterHex"} & names
    if reader == "records" and fixed:
        wrong += [name for name in _OF_LINES if name in names]
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
    for name in sorted(names):
        if BY_NAME[name.lower()].mode not in ("", mode):
            required = "a stream, which has 'windowLocation'" if mode == "batch" else "no stream"
            raise SourceException(f"option {name!r} is for {required}")
