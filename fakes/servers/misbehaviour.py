"""Apply each kind of fault of a server to a request or to its answer.

The names are those of `contract/program/server_faults.py`.
"""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Callable, Iterable
from hashlib import md5
from typing import TypeAlias

from fscontract.contract.program.content import replacement
from fscontract.contract.program.faults import Fault
from fscontract.contract.program.server_faults import SERVER_FAULTS
from fscontract.fakes.servers.exchange import Exchange

_Change: TypeAlias = Callable[[Exchange, Fault], None]
_REDIRECTED = "redirected"
_WRONG_ETAG = '"d41d8cd98f00b204e9800998ecf8427f"'
_ERROR = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    "<Error><Code>{code}</Code><Message>The fault plan of the test says so.</Message></Error>"
)
_XML = ("Content-Type", "application/xml")
_numbers = itertools.count(1)


def respond(exchange: Exchange, faults: Iterable[Fault]) -> None:
    """Answer a request as the application does, changed by the faults that can strike it."""
    striking = [f for f in faults if exchange.operation in SERVER_FAULTS[f.kind].operations]
    for fault in striking:
        if fault.kind in _BEFORE and not exchange.is_answered:
            _BEFORE[fault.kind](exchange, fault)
    if not exchange.is_answered:
        exchange.ask()
        for fault in striking:
            if fault.kind in _AFTER:
                _AFTER[fault.kind](exchange, fault)


# The request ----------------------------------------------------------------------------------


def _ignore_ranges(exchange: Exchange, fault: Fault) -> None:
    if exchange.environ.pop("HTTP_RANGE", None) is not None:
        exchange.strikes(fault)


def _shift_ranges(exchange: Exchange, fault: Fault) -> None:
    if exchange.requested is None:
        return
    first, last = exchange.requested
    step = -1 if first else 1
    end = "" if last is None else str(last + step)
    shifted = {**exchange.environ, "HTTP_RANGE": f"bytes={first + step}-{end}"}
    answer = Exchange(shifted, exchange.application, exchange.operation)
    answer.ask()
    if answer.status == 206:
        exchange.status, exchange.headers = answer.status, answer.headers
        exchange.content = answer.content
        exchange.strikes(fault)


def _omit_content_range(exchange: Exchange, fault: Fault) -> None:
    if exchange.environ.pop("HTTP_RANGE", None) is None:
        return
    exchange.ask()
    if exchange.status == 200:
        exchange.status = 206
        exchange.strikes(fault)


def _redirect(exchange: Exchange, fault: Fault) -> None:
    query = exchange.environ.get("QUERY_STRING", "")
    if _REDIRECTED not in query:
        path = exchange.environ["RAW_URI"].partition("?")[0]
        target = f"{path}?{query}&{_REDIRECTED}" if query else f"{path}?{_REDIRECTED}"
        exchange.answer(307, headers=[("Location", target)])
        exchange.strikes(fault)


def _refuse_head(exchange: Exchange, fault: Fault) -> None:
    exchange.answer(405, headers=[("Allow", "GET")])
    exchange.strikes(fault)


def _slow_down(exchange: Exchange, fault: Fault) -> None:
    text = _ERROR.format(code="SlowDown").encode()
    exchange.answer(503, text, [_XML, ("Retry-After", "0")])
    exchange.strikes(fault)


def _ignore_if_match(exchange: Exchange, fault: Fault) -> None:
    if "HTTP_IF_MATCH" not in exchange.environ:
        return
    del exchange.environ["HTTP_IF_MATCH"]
    other = replacement(exchange.whole())
    exchange.ask()
    if exchange.status in (200, 206):
        first, last, _ = exchange.sent_range or (0, len(other) - 1, 0)
        exchange.set_content(other[first : last + 1])
        exchange.headers["ETag"] = f'"{md5(other, usedforsecurity=False).hexdigest()}"'
        exchange.strikes(fault)


def _know_wrong_etag(exchange: Exchange, fault: Fault) -> None:
    """Accept the wrong ETag, which the client has from this server."""
    if exchange.environ.get("HTTP_IF_MATCH") == _WRONG_ETAG:
        del exchange.environ["HTTP_IF_MATCH"]


def _fail_in_200(exchange: Exchange, fault: Fault) -> None:
    is_copy = "HTTP_X_AMZ_COPY_SOURCE" in exchange.environ
    if exchange.operation == "complete" or is_copy:
        exchange.answer(200, _ERROR.format(code="InternalError").encode(), [_XML])
        exchange.strikes(fault)


# The answer -----------------------------------------------------------------------------------


def _omit_length(exchange: Exchange, fault: Fault) -> None:
    if exchange.status in (200, 206):
        exchange.headers.pop("Content-Length", None)
        exchange.body.framing = "connection"
        exchange.strikes(fault)


def _chunk(exchange: Exchange, fault: Fault) -> None:
    if exchange.has_content:
        exchange.headers.pop("Content-Length", None)
        exchange.body.framing = "chunked"
        exchange.strikes(fault)


def _gzip(exchange: Exchange, fault: Fault) -> None:
    if exchange.has_content:
        exchange.set_content(gzip.compress(exchange.content, mtime=0))
        exchange.headers["Content-Encoding"] = "gzip"
        exchange.strikes(fault)


def _refuse_past_end(exchange: Exchange, fault: Fault) -> None:
    wanted, sent = exchange.requested, exchange.sent_range
    if wanted and sent and wanted[1] is not None and wanted[1] >= sent[2]:
        exchange.answer(416, headers=[("Content-Range", f"bytes */{sent[2]}")])
        exchange.strikes(fault)


def _scale_length(scale: Callable[[int], int]) -> _Change:
    def change(exchange: Exchange, fault: Fault) -> None:
        length = exchange.headers.get("Content-Length", "")
        if exchange.status == 200 and length.isdecimal() and scale(int(length)) != int(length):
            exchange.headers["Content-Length"] = str(scale(int(length)))
            exchange.strikes(fault)

    return change


def _change_etag(exchange: Exchange, fault: Fault) -> None:
    if exchange.status in (200, 206):
        exchange.headers["ETag"] = f'"{next(_numbers):032x}"'
        exchange.strikes(fault)


def _wrong_etag(exchange: Exchange, fault: Fault) -> None:
    if exchange.status in (200, 206):
        exchange.headers["ETag"] = _WRONG_ETAG
        exchange.strikes(fault)


def _cut(exchange: Exchange, fault: Fault) -> None:
    if exchange.has_content:
        exchange.body.end = len(exchange.content) // 2
        exchange.strikes(fault)


def _stall(exchange: Exchange, fault: Fault) -> None:
    if exchange.has_content:
        exchange.body.end = len(exchange.content) // 2
        exchange.body.stall = fault.delay
        exchange.strikes(fault)


def _drip(exchange: Exchange, fault: Fault) -> None:
    if exchange.has_content:
        exchange.body.drip = fault.delay
        exchange.strikes(fault)


_BEFORE: dict[str, _Change] = {
    "ignore-ranges": _ignore_ranges,
    "shift-ranges": _shift_ranges,
    "omit-content-range": _omit_content_range,
    "redirect": _redirect,
    "refuse-head": _refuse_head,
    "slow-down": _slow_down,
    "ignore-if-match": _ignore_if_match,
    "wrong-etags": _know_wrong_etag,
    "errors-in-200": _fail_in_200,
}
_AFTER: dict[str, _Change] = {
    "omit-length": _omit_length,
    "chunk-bodies": _chunk,
    "gzip-bodies": _gzip,
    "refuse-past-end": _refuse_past_end,
    "understate-length": _scale_length(lambda length: length // 2),
    "overstate-length": _scale_length(lambda length: 2 * length + 1),
    "change-etags": _change_etag,
    "wrong-etags": _wrong_etag,
    "cut-bodies": _cut,
    "stall-bodies": _stall,
    "drip-bodies": _drip,
}
assert SERVER_FAULTS.keys() == _BEFORE.keys() | _AFTER.keys()
