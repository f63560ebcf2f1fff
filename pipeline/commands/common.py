"""Options and errors that the commands share. Imports nothing but click and the standard library
before a command runs, so that `--help` is quick."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from fscontract.contract.suite.commands.common import TARGET_OPTION

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Callback = Callable[[click.Context, click.Parameter, str | None], int | None]

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SIZE = re.compile(r"(\d{1,15}) ?([KMG]?)(?:i?B)?", re.ASCII | re.IGNORECASE)
_ESCAPE = re.compile(rb"\\(x[0-9A-Fa-f]{2}|[\s\S]|\Z)")
_ESCAPED = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"0": b"\0", b"\\": b"\\"}


def size(least: int = 0) -> _Callback:
    """A click callback: a number of bytes, at least so many, with K, M or G perhaps."""

    def convert(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
        if value is None:
            return None
        found = _SIZE.fullmatch(value.strip())
        if found is None:
            raise click.BadParameter(
                f"a number of bytes, such as 4096, 64K or 128M, not {value!r:.40}"
            )
        number = int(found[1]) * _UNITS[found[2].upper()]
        if number < least:
            raise click.BadParameter(f"at least {least}, not {value!r:.40}")
        return number

    return convert


def escaped(ctx: click.Context, param: click.Parameter, value: str | None) -> bytes | None:
    r"""A click callback: text in which `\n`, `\r`, `\t`, `\0`, `\\` and `\xHH` are one byte."""

    def one(found: re.Match[bytes]) -> bytes:
        code = found[1]
        if code not in _ESCAPED and len(code) < 3:
            raise click.BadParameter(
                rf"{value!r:.40}: after a backslash comes n, r, t, 0, xHH or a backslash"
            )
        return _ESCAPED.get(code) or bytes.fromhex(code[1:].decode())

    return None if value is None else _ESCAPE.sub(one, os.fsencode(value))


_OPTIONS = (
    click.argument("urls", metavar="URL...", nargs=-1, required=True),
    click.option(
        "--block-size",
        metavar="SIZE",
        callback=size(1),
        help="Bytes of a block, such as 64M; without it, what the filesystem says.",
    ),
    click.option(
        "--recursive/--no-recursive",
        default=True,
        show_default=True,
        help="Whether directories in directories are searched.",
    ),
    click.option("--pattern", metavar="REGEX", help="Only files whose whole name it matches."),
    click.option("--ignore", metavar="REGEX", help="No files whose whole name it matches."),
    click.option(
        "--data-offset",
        metavar="SIZE",
        callback=size(),
        default="0",
        help="Where the first block of each file starts, behind a header.",
    ),
    TARGET_OPTION,
)


def input_options(function: _Function) -> _Function:
    """Add the options that say what is split."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@contextmanager
def one_line(options: Mapping[str, str]) -> Iterator[None]:
    """UsageError for an argument that can't be meant, TargetError for whatever can't be read.

    Each has one line, without the values of `options`.
    """
    from fscontract.contract.binding import TargetError
    from fscontract.contract.errors import IllegalArgumentException
    from fscontract.contract.masking import redact
    from fscontract.contract.outcome import text_of
    from fscontract.contract.targets import UsageError

    def said(error: Exception) -> str:
        text = " ".join(text_of(error).split()) or type(error).__name__
        return redact(text, dict(options))

    try:
        yield
    except (IllegalArgumentException, UsageError) as error:
        raise UsageError(said(error)) from error
    except (OSError, TargetError) as error:
        raise TargetError(said(error)) from error
