"""Write a failure as Markdown for the tracker of the library under test."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import shorten

from fscontract.contract.script.exceptions import KINDS, with_classes
from fscontract.contract.script.failure import Failure
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.text import printable

#: The number of a contradiction in the source, at the start of a reading.
_NUMBER = re.compile(r"^[A-Z]\d+: ")
#: A call, or one stage of an open, that raised.
_RAISED = re.compile(rf"^((?:\w+: )?)({KINDS})(?: \((.*)\))?$", re.DOTALL)
#: The most characters of the actual outcome in the title.
_MOST_IN_TITLE = 80


def issue(
    failure: Failure, script: str, language: str, expected: Sequence[str], actual: str
) -> str:
    """Return the title, the versions, the script, and what was expected and came."""
    return "\n".join(_lines(failure, script, language, expected, actual)) + "\n"


def _lines(
    failure: Failure, script: str, language: str, expected: Sequence[str], actual: str
) -> Iterator[str]:
    clause = clauses()[failure.clause]
    is_java = language in ("java", "junit")
    expected = [with_classes(text, is_java) for text in expected]
    actual = _RAISED.sub(lambda m: f"{m[1]}raised {m[3] or with_classes(m[2], is_java)}", actual)
    short = shorten(actual, _MOST_IN_TITLE, placeholder=" ...")
    # Trackers show a title as text, in which escapes would be visible.
    yield f"# {_one_line(clause.statement.rstrip('.'))}: {_one_line(short)}"
    yield ""
    yield "## Versions"
    yield ""
    yield from (f"- {name} {version}" for name, version in failure.versions.items())
    yield ""
    yield "## To reproduce"
    yield ""
    yield f"```{'java' if is_java else language}"
    yield from script.rstrip("\n").split("\n")
    yield "```"
    yield ""
    yield "## Expected"
    yield ""
    yield f"{_plain(clause.statement)} ({_plain(clause.citation)})"
    if clause.reading:
        yield ""
        reading = _NUMBER.sub("", clause.reading)
        yield _plain(reading[:1].upper() + reading[1:])
    if expected:
        yield ""
        yield f"Here: {_plain(' or '.join(expected))}."
    yield ""
    yield "## Actual"
    yield ""
    yield f"{_plain(actual)}."
    if clause.because:
        yield ""
        yield _plain(clause.because)


def _plain(text: str) -> str:
    """Return a text on one line, in which Markdown and HTML have no meaning."""
    text = _one_line(text).replace("&", "&amp;").replace("<", "&lt;")
    for char in "\\`*_[]#|":
        text = text.replace(char, f"\\{char}")
    return text


def _one_line(text: str) -> str:
    """Return a printable text on one line."""
    return " ".join(printable(text).split())
