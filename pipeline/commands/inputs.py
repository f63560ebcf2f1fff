"""From the URLs that a user types to filesystems of ours, and paths in them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from fscontract.contract.masking import mask_url
from fscontract.contract.targets import UsageError
from fscontract.implementations.spark.places import LocalPlace, Place, place_of
from fscontract.pipeline.blocks import bare_path

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_LOCAL = LocalPlace()
#: Hadoop's names for a bucket's scheme.
_S3 = ("s3", "s3a")


@dataclass(frozen=True)
class Input:
    """What the user typed: where it is, and the absolute path, or the URI, that it stands for."""

    typed: str
    place: Place
    path: str

    def shown(self, path: str) -> str:
        """A path at or below this one as the user would write it."""
        below = path.startswith(self.path.rstrip("/") + "/") or path == self.path
        return f"{self.typed.rstrip('/')}{path[len(self.path.rstrip('/')) :]}" if below else path


def inputs(urls: Sequence[str], options: Mapping[str, str]) -> list[Input]:
    """The inputs in their order, each once; `options` are those of buckets. UsageError."""
    found = [_input(url, options) for url in dict.fromkeys(urls)]
    if options and all(one.place == _LOCAL for one in found):
        raise UsageError("-o is for the URLs of buckets, and none is given")
    return found


def by_place(found: Sequence[Input]) -> list[tuple[Place, list[Input]]]:
    """Those that follow each other in one place, together."""
    return [(place, list(group)) for place, group in groupby(found, key=lambda one: one.place)]


def _input(url: str, options: Mapping[str, str]) -> Input:
    found = _SCHEME.match(url)
    if found is None or os.path.lexists(url):
        if not url:
            raise UsageError("an empty path")
        return Input(url, _LOCAL, os.path.abspath(url))
    scheme, rest = found[1].lower(), url[found.end() :]
    path = bare_path(url)
    authority = rest[2 : len(rest) - len(path)] if rest.startswith("//") else ""
    if scheme == "file" and path.startswith("/") and authority in ("", "localhost"):
        return Input(url, _LOCAL, url)
    if scheme in _S3 and rest.startswith("//"):
        bucket, _, key = rest[2:].partition("/")
        if "@" in bucket:
            raise UsageError(f"{mask_url(url)}: keys are options (-o), not part of a URL")
        uri = f"{scheme}://{bucket}/{key}"
        return Input(url, place_of(f"s3://{bucket}", options), uri)
    raise UsageError(f"{mask_url(url)}: no path, file:///path or s3://bucket/path")
