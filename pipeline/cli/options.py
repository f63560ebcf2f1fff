"""Options and errors that the pipeline commands share.

Importing this module loads nothing slow, so that `--help` is quick.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeVar

import click

from fscontract.contract.command_line import TARGET_OPTION
from fscontract.contract.targets import UsageError
from fscontract.contract.text import mask_url
from fscontract.implementations.options import parse_size
from fscontract.implementations.spark.locations import FileLocation, LocalLocation, location_of
from fscontract.pipeline.blocks import bare_path

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Callback = Callable[[click.Context, click.Parameter, str | None], int | None]

_ESCAPE = re.compile(rb"\\(x[0-9A-Fa-f]{2}|[\s\S]|\Z)")
_ESCAPED = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"0": b"\0", b"\\": b"\\"}


def size(minimum: int = 0) -> _Callback:
    """Return a click callback for a size of at least `minimum` bytes, such as 64K, 1M or 2G."""

    def convert(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
        try:
            return None if value is None else parse_size(value, minimum)
        except ValueError as error:
            raise click.BadParameter(f"{value!r:.40}: {error}") from None

    return convert


def escaped(ctx: click.Context, param: click.Parameter, value: str | None) -> bytes | None:
    r"""Convert text with the escapes `\n`, `\r`, `\t`, `\0`, `\\` and `\xHH`; a click callback."""

    def unescape(match: re.Match[bytes]) -> bytes:
        code = match[1]
        if code not in _ESCAPED and len(code) < 3:
            raise click.BadParameter(
                f"invalid escape in {value!r:.40}: expected n, r, t, 0, xHH or a backslash after "
                "a backslash"
            )
        return _ESCAPED.get(code) or bytes.fromhex(code[1:].decode())

    return None if value is None else _ESCAPE.sub(unescape, os.fsencode(value))


_OPTIONS = (
    click.argument("urls", metavar="URL...", nargs=-1, required=True),
    click.option(
        "--block-size",
        metavar="SIZE",
        callback=size(1),
        help="Block size in bytes, such as 64M. Default: the filesystem's block size.",
    ),
    click.option(
        "--recursive/--no-recursive",
        default=True,
        show_default=True,
        help="Search directories recursively.",
    ),
    click.option("--pattern", metavar="REGEX", help="Include only files whose full name matches."),
    click.option("--ignore", metavar="REGEX", help="Exclude files whose full name matches."),
    click.option(
        "--data-offset",
        metavar="SIZE",
        callback=size(),
        default="0",
        help="Start of the first block of each file, behind a header.",
    ),
    TARGET_OPTION,
)


def input_options(function: _Function) -> _Function:
    """Add the options that select and split the input."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@contextmanager
def one_line(options: Mapping[str, str]) -> Iterator[None]:
    """Convert invalid arguments to UsageError, and unreadable inputs to TargetError.

    Each message is one line, without the values of `options`.
    """
    from fscontract.contract.api.errors import IllegalArgumentException
    from fscontract.contract.binding import TargetError
    from fscontract.contract.program.outcome import text_of
    from fscontract.contract.targets import UsageError
    from fscontract.contract.text import redact

    def message(error: Exception) -> str:
        text = " ".join(text_of(error).split()) or type(error).__name__
        return redact(text, dict(options))

    try:
        yield
    except (IllegalArgumentException, UsageError) as error:
        raise UsageError(message(error)) from error
    except (OSError, TargetError) as error:
        raise TargetError(message(error)) from error


_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_LOCAL = LocalLocation()
#: Hadoop's schemes of a bucket.
_S3 = ("s3", "s3a")


@dataclass(frozen=True)
class Input:
    """An input as typed, its location, and the absolute path or URI."""

    typed: str
    location: FileLocation
    path: str

    def as_typed(self, path: str) -> str:
        """Return a path at or below this one as the user would write it."""
        below = path.startswith(self.path.rstrip("/") + "/") or path == self.path
        return f"{self.typed.rstrip('/')}{path[len(self.path.rstrip('/')) :]}" if below else path


def inputs(urls: Sequence[str], options: Mapping[str, str]) -> list[Input]:
    """Return the inputs in order, without duplicates; raise UsageError.

    `options` are S3 options.
    """
    parsed = [_input(url, options) for url in dict.fromkeys(urls)]
    if options and all(parsed_input.location == _LOCAL for parsed_input in parsed):
        raise UsageError("-o requires an s3:// URL")
    return parsed


def by_location(parsed: Sequence[Input]) -> list[tuple[FileLocation, list[Input]]]:
    """Group consecutive inputs by their location."""
    return [
        (location, list(group))
        for location, group in groupby(parsed, key=lambda parsed_input: parsed_input.location)
    ]


def _input(url: str, options: Mapping[str, str]) -> Input:
    scheme_match = _SCHEME.match(url)
    if scheme_match is None or os.path.lexists(url):
        if not url:
            raise UsageError("empty path")
        return Input(url, _LOCAL, os.path.abspath(url))
    scheme, rest = scheme_match[1].lower(), url[scheme_match.end() :]
    path = bare_path(url)
    authority = rest[2 : len(rest) - len(path)] if rest.startswith("//") else ""
    if scheme == "file" and path.startswith("/") and authority in ("", "localhost"):
        return Input(url, _LOCAL, url)
    if scheme in _S3 and rest.startswith("//"):
        bucket, _, key = rest[2:].partition("/")
        if "@" in bucket:
            raise UsageError(f"{mask_url(url)}: keys must be options (-o), not part of the URL")
        uri = f"{scheme}://{bucket}/{key}"
        return Input(url, location_of(f"s3://{bucket}", options), uri)
    raise UsageError(
        f"invalid URL {mask_url(url)}: expected a path, file:///path or s3://bucket/path"
    )
