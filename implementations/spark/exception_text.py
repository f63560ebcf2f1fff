"""Exception messages that remain readable after Spark's JVM has ended.

PySpark's exceptions fetch their message from the JVM each time they are printed. A session that
ends because of an exception stops the JVM, so the message has to be fetched first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

#: Methods with which a PySpark exception, and its query context, call the JVM.
_OF_ERRORS = (
    *("__str__", "getCondition", "getMessageParameters", "getSqlState", "getMessage"),
    *("getBreakingChangeInfo", "getQueryContext"),
)
_OF_CONTEXTS = (
    *("objectType", "objectName", "startIndex", "stopIndex", "fragment", "callSite", "summary"),
)


def keep_messages(error: BaseException) -> None:
    """Fetch the messages of an exception chain, and store them in the exceptions."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors.exceptions.captured import CapturedException

    for link in _chain(error, set()):
        if isinstance(link, CapturedException):
            _fix(link, _OF_ERRORS, str(link._desc))
        elif isinstance(link, Py4JJavaError):
            _fix(link, ("__str__",), str(link.errmsg))


def _chain(error: BaseException | None, seen: set[int]) -> Iterator[BaseException]:
    """Yield an exception, its causes and contexts, and the members of exception groups."""
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    yield error
    members: Iterable[BaseException] = getattr(error, "exceptions", ())
    for link in (error.__cause__, error.__context__, *members):
        yield from _chain(link, seen)


def _fix(error: Any, names: Iterable[str], otherwise: str = "") -> None:
    """Replace methods of an object by their current results; use `otherwise` on failure."""
    cls = type(error)
    values: dict[str, Any] = {"__str__": otherwise} if "__str__" in names else {}
    for name in names:
        if hasattr(cls, name):
            with suppress(Exception):  # the JVM may have ended
                values[name] = getattr(error, name)()
    for context in values.get("getQueryContext", ()):
        _fix(context, _OF_CONTEXTS)
    methods = {name: _returning(value) for name, value in values.items()}
    own = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
    error.__class__ = type(cls.__name__, (cls,), {**own, **methods})


def _returning(value: Any) -> Callable[[Any], Any]:
    return lambda self: value
