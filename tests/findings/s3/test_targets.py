"""All findings of a quick run with few programs in each client of S3.

A new line is a new finding, or a false one. A missing line is a bug that the kit no longer sees.
"""

from __future__ import annotations

import pytest

from servers.s3 import client_targets as targets
from servers.s3.client_targets import CACHES, Place
from tests.findings.conftest import holds
from tests.findings.s3.conftest import run, unclosed

pytestmark = [pytest.mark.usefixtures("few"), pytest.mark.deep]

#: Arguments that io documents for reading lines, and a client does not take.
LINES = {
    *("python.readline.line", "python.readline.limit", "python.readline.last"),
    *("python.readlines.all", "python.readlines.hint"),
}
#: All but the operations that go through a cache of s3fs, which are those of a stream.
BESIDE_THE_CACHE = frozenset(
    {"python-file", "supports-positioned-readable", "supports-vectored-io"} | {"fsspec-filesystem"}
)


def test_pyarrow_has_its_findings(place: Place) -> None:
    """S4, S5, S6."""
    fails = {"pread.eof", "python.read.all", "python.iter.lines"}
    holds(run(targets.pyarrow(place)), fails, {"python.seek.past-end", "python.with.closed"})


def test_obstore_has_its_findings(place: Place) -> None:
    """S7, S8, S9, S10, S11, S28."""
    fails = {
        *("close.state", "python.read.closed", "python.seek.closed", "python.tell.closed"),
        *("seek.negative", "python.read.all"),
        *(f"read-vectored.{name}" for name in ("good-ranges", "overlap-allowed", "zero-length")),
        "open.nothing-read",
    }
    holds(
        run(targets.obstore(place)),
        fails | LINES,
        {"seek.open", "python.read.full", "python.seek.negative"},
    )


def test_opendal_has_its_findings(place: Place) -> None:
    """S7, S8, S9, S12, S26."""
    fails = {
        *("open.presence", "open.empty-path"),
        *("seek.negative", "pread.data", "pread.eof"),
        *("python.read.all", "python.readline.last", "python.readinto.formats"),
        *("python.read.closed", "python.readline.closed"),
        *("python.seek.closed", "python.tell.closed"),
    }
    lax = {"python.read.full", "python.seek.negative", "operator.read.past-end"}
    # few programs close a file first, and few files are longer than a buffer of the client
    closed = {f"python.{call}.closed" for call in ("readinto", "write", "with")}
    sampled = frozenset(closed | {"python.readinto.full"})
    holds(run(targets.opendal_s3(place)), fails, lax, sampled)


def test_s3fs_has_its_findings(place: Place) -> None:
    """F23, F35, F41, S13, S14, with its default cache, readahead; F14 and F16 are inherited."""
    fails = {
        *("pread.eof", "pread.zero", "read-vectored.eof-late", "read-vectored.zero-length"),
        *("open.directory", "filesystem.cat-ranges.data"),
        *(f"filesystem.cat-file.{name}" for name in ("range", "one-limit", "negative")),
        *("async.cat-file.data", "async.cat-ranges.data", "async.open.seek"),
    }
    calls = "cat-file", "cat-ranges"
    lax = {f"filesystem.{call}.{name}" for call in calls for name in ("past-end", "reversed")}
    lax |= {f"async.{call}.limits" for call in calls} | {"async.open.closed"}
    holds(run(targets.s3fs(place)), fails, {"seek.open"} | lax)


@unclosed
@pytest.mark.usefixtures("fewer")
@pytest.mark.parametrize("cache", CACHES)
def test_streams_of_s3fs_have_their_findings_with_every_other_cache(
    cache: str, place: Place
) -> None:
    """F15, F23."""
    binding = targets.s3fs(place, cache)
    holds(run(binding, without=BESIDE_THE_CACHE), {"open.directory"}, {"seek.open"})


def test_smart_open_has_its_findings(place: Place) -> None:
    """S16, S29."""
    holds(
        run(targets.smart(place)),
        {"seek.negative", "open.empty-path"},
        {"python.seek.past-end", "python.seek.negative", "open.missing-class"},
    )


def test_body_of_boto3_has_its_findings(place: Place) -> None:
    """S17."""
    fails = {
        *(
            "close.state",
            "read-byte.closed",
            "read-into.open",
            "python.read.closed",
            "python.readinto.closed",
        ),
        *("python.readline.closed", "python.iter.closed"),
        *("python.readinto.formats", "python.readlines.hint"),
        # its lines are not counted, and it iterates over chunks
        *("python.readlines.advance", "python.iter.lines"),
        # get_object() raises errors of botocore
        *("open.missing", "open.directory", "open.below-file", "open.empty-path"),
    }
    result = run(targets.streaming_body(place), without=frozenset({"supports-seek"}))
    holds(result, fails, {"python.with.closed"})
