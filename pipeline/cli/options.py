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
from fscontract.implementations.options import parse_size
from fscontract.implementations.spark.locations import FileLocation, LocalLocation
from fscontract.pipeline.locations import filesystem_url, is_url, make_location

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


#: Option of the counters of splitter and reader.
METRICS = click.option(
    "--metrics", is_flag=True, help="Print the counters as a line of JSON on standard error."
)


def input_options(function: _Function) -> _Function:
    """Add the options that select and split the input."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@contextmanager
def one_line(options: Mapping[str, str]) -> Iterator[None]:
    """Convert invalid arguments to UsageError; unreadable inputs, missing modules to TargetError.

    Each message is one line, without the values of `options`.
    """
    from fscontract.contract.api.errors import IllegalArgumentException
    from fscontract.contract.binding import TargetError
    from fscontract.contract.program.outcome import text_of
    from fscontract.contract.targets import UsageError, without_module
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
    except ModuleNotFoundError as error:
        raise without_module("this command", error) from error


_LOCAL = LocalLocation()


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

    `options` are those of S3, or fsspec's storage options.
    """
    parsed = [_input(url, options) for url in dict.fromkeys(urls)]
    if options and all(parsed_input.location == _LOCAL for parsed_input in parsed):
        raise UsageError("-o requires the URL of a store, such as s3://bucket or ftp://host")
    return parsed


def by_location(parsed: Sequence[Input]) -> list[tuple[FileLocation, list[Input]]]:
    """Group consecutive inputs by their location."""
    return [
        (location, list(group))
        for location, group in groupby(parsed, key=lambda parsed_input: parsed_input.location)
    ]


def _input(url: str, options: Mapping[str, str]) -> Input:
    if not is_url(url) or os.path.lexists(url):
        if not url:
            raise UsageError("empty path")
        return Input(url, _LOCAL, os.path.abspath(url))
    where = filesystem_url(url)
    return Input(url, make_location(where, options), url)
