"""Kinds of faults of HTTP and S3 servers: answers that the protocol allows, or that servers give.

They have no constructor of `Fault`, because only the servers of `fscontract.fakes.servers` have
them. There, each is an option of the same name.
"""

from __future__ import annotations

from collections.abc import Iterable

from fscontract.contract.program.fault_kinds import MOST_SECONDS, FaultKind, Number, Parameter

#: The places where they happen.
HTTP, S3 = "http server", "s3 server"
_BOTH = (HTTP, S3)


def _kind(
    name: str,
    meaning: str,
    operations: Iterable[str] = ("get",),
    places: Iterable[str] = _BOTH,
    seconds: Number | None = None,
) -> FaultKind:
    """Return a kind; `seconds` is the default of its parameter, None if it has none."""
    parameters = {}
    if seconds is not None:
        values = (seconds,)
        parameters["seconds"] = Parameter("seconds", seconds, 0, MOST_SECONDS, values)
    of, at = frozenset(operations), frozenset(places)
    return FaultKind(name, meaning, of, at, parameters, checked=False, times=1)


_READS = ("get", "head")

#: All kinds of faults of servers.
SERVER_FAULTS: dict[str, FaultKind] = {
    kind.name: kind
    for kind in (
        _kind("ignore-ranges", "The answer to a range is the whole file, with status 200."),
        _kind("shift-ranges", "The answer to a range is the range one byte before or after it."),
        _kind(
            "omit-content-range",
            "The answer to a range has status 206 and no Content-Range, and starts at byte 0.",
        ),
        _kind("omit-length", "No header tells the length; the connection ends the body.", _READS),
        _kind("chunk-bodies", "The body is sent in chunks, and no header tells its length."),
        _kind("gzip-bodies", "The body is compressed with gzip, as Content-Encoding says."),
        _kind("redirect", "The request is redirected (307) to another URL of the file.", _READS),
        _kind("refuse-past-end", "A range that ends past the end of the file is refused (416)."),
        _kind("refuse-head", "HEAD is refused (405).", ("head",)),
        _kind("understate-length", "HEAD tells half of the file's length.", ("head",)),
        _kind("overstate-length", "HEAD tells twice the file's length, and one.", ("head",)),
        _kind("change-etags", "Each answer has a new ETag.", _READS),
        _kind(
            "ignore-if-match",
            "The answer to a request with If-Match has bytes and ETag of another version.",
        ),
        _kind("cut-bodies", "The connection ends in the middle of the body."),
        _kind(
            "stall-bodies",
            "The body stops in its middle for `seconds`, and then the connection ends.",
            seconds=0.05,
        ),
        _kind("drip-bodies", "The body arrives in 20 pieces within `seconds`.", seconds=0.05),
        _kind("slow-down", "The server is busy (503, SlowDown).", _READS),
        _kind("wrong-etags", "The ETag belongs to other bytes.", _READS, (S3,)),
        _kind(
            "errors-in-200",
            "An upload in parts, or a copy, fails with an error in an answer with status 200.",
            ("complete", "put"),
            (S3,),
        ),
    )
}


def kinds_at(place: str) -> frozenset[str]:
    """Return the kinds that servers of a place have."""
    return frozenset(name for name, kind in SERVER_FAULTS.items() if place in kind.places)


def clause_of_kind(kind: str) -> str:
    """Return the clause about streams whose server answers with this kind of fault."""
    return f"server.{kind}"


def clause_of_server(kinds: Iterable[str]) -> str:
    """Return the clause about a server with these kinds of faults, "" if they are not a server's.

    Of several kinds, it is that of the first one in SERVER_FAULTS.
    """
    given = set(kinds)
    return next((clause_of_kind(kind) for kind in SERVER_FAULTS if kind in given), "")
