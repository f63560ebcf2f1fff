"""An answer of a server in the words of the facts."""

from __future__ import annotations

from servers.s3.signed import Answer
from tests.s3.facts import DATA, OTHER

_BODIES = {b"": "nothing", DATA: "all", OTHER: "the other"}


def described(method: str, answer: Answer) -> str:
    """Return the part of an answer that a fact about a request with that method describes."""
    if answer.status == 0:
        return "broken"
    words = [str(answer.status), answer.code, _range(answer)]
    if answer.status < 400:
        words.append(_body(method, answer))
        words.append("" if "etag" in answer.headers else "no ETag")
    return " ".join(word for word in words if word)


def _range(answer: Answer) -> str:
    return answer.headers.get("content-range", "").removeprefix("bytes ")


def _body(method: str, answer: Answer) -> str:
    if answer.broken:
        return "broken"
    if method == "PUT":
        return ""
    if method == "HEAD":
        return f"of {answer.headers['content-length']}"
    placed = _range(answer).partition("/")[0]
    if placed:
        first, last = map(int, placed.split("-"))
        return "" if answer.body == DATA[first : last + 1] else f"wrong: {answer.body!r}"
    return _BODIES.get(answer.body, f"wrong: {answer.body!r}")
