"""Play one scenario in a script, and show the last calls of the part before its failure."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from textwrap import shorten
from typing import Any

from fscontract.contract.api.errors import UnsupportedOperationException
from fscontract.contract.api.filesystem import FileSystem
from fscontract.contract.models.violation import Violation
from fscontract.contract.pipeline_bindings import (
    CheckedListing,
    CheckedReader,
    CheckedScaling,
    CheckedTableReader,
    CheckedWriter,
    ReaderSettings,
    Splitter,
    SplitterSettings,
    TableSettings,
)
from fscontract.contract.runner.sandbox import error_text
from fscontract.contract.scenarios.instrumented_filesystem import Killed
from fscontract.contract.scenarios.scenario import H, Violated

#: Results whose calls are traced, too.
_PARTS = (
    *(CheckedListing, CheckedReader, CheckedScaling, CheckedTableReader, CheckedWriter),
    Splitter,
)
#: The calls that are shown, the records of one of them, and the characters of each.
_MAX_CALLS, _MAX_RECORDS, _WIDTH = 20, 10, 200


def play(scenario: Callable[[H], None], harness: H, clause: str = "") -> None:
    """Play a scenario; AssertionError at the first violation of the clause, by default its own.

    The harness is that of a part. The last calls of the part are printed if anything is raised.
    """
    calls: deque[_Call] = deque(maxlen=_MAX_CALLS)
    harness.raises = clause or harness.clause
    driven: Any = harness
    driven.binding = _Traced(driven.binding, calls)
    try:
        _play(scenario, harness)
    except BaseException:
        print(*calls, sep="\n")
        raise


def _play(scenario: Callable[[H], None], harness: H) -> None:
    """Play a scenario; a violation counts before an exception that follows it."""
    raised: BaseException | None = None
    try:
        try:
            scenario(harness)
        finally:
            harness.close()
    except Violated:
        raise
    except (Exception, Killed) as error:
        raised = error
    for violation in harness.violations:
        if violation.clause == harness.raises:
            raise Violated(violation) from raised
    if raised is None:
        return
    if isinstance(raised, UnsupportedOperationException) or harness.raises != harness.clause:
        raise raised
    actual = error_text(raised)
    raise Violated(Violation(harness.clause, "no exception", actual)) from raised


class _Call:
    """A call with its result or exception, as text."""

    def __init__(self, text: str) -> None:
        self.text = text
        #: The records that it yielded.
        self.records: list[str] = []

    def __str__(self) -> str:
        records = f" -> {', '.join(self.records)}" if self.records else ""
        return shorten(self.text + records, _WIDTH, placeholder=" ...")


class _Traced:
    """A part or an object of it, whose calls go to a log."""

    def __init__(self, part: Any, calls: deque[_Call]) -> None:
        self._part = part
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._part, name)
        return self._method(name, value) if callable(value) else value

    def _method(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            given = [*map(_text, args), *(f"{key}={_text(value)}" for key, value in named.items())]
            log = _Call(f"{name}({', '.join(given)})")
            self._calls.append(log)
            try:
                result = method(*args, **named)
            except BaseException as error:
                log.text += f" raised {error!r}"
                raise
            return self._noted(result, log)

        return call

    def _noted(self, result: Any, log: _Call) -> Any:
        """Note the result of a call, and return it, with a log of its calls if it has some."""
        if isinstance(result, _PARTS):
            return _Traced(result, self._calls)
        if hasattr(result, "__next__"):
            return _Records(result, log)
        log.text += "" if result is None else f" -> {_text(result)}"
        return result


class _Records:
    """An iterator of records, which go to the log of their call."""

    def __init__(self, records: Any, log: _Call) -> None:
        self._records = records
        self._log = log

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        record = next(self._records)
        if len(self._log.records) < _MAX_RECORDS:
            self._log.records.append(_text(record))
        return record

    def __getattr__(self, name: str) -> Any:
        return getattr(self._records, name)


def _text(value: Any) -> str:
    """Return a value as text: a filesystem as "fs", settings without those that are defaults."""
    if isinstance(value, FileSystem):
        return "fs"
    if not isinstance(value, ReaderSettings | SplitterSettings | TableSettings):
        return repr(value)
    usual = type(value)()
    given = {name: set_ for name, set_ in vars(value).items() if set_ != getattr(usual, name)}
    texts = (f"{name}={set_!r}" for name, set_ in given.items())
    return f"{type(value).__name__}({', '.join(texts)})"
