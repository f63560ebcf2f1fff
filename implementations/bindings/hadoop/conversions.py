"""Conversions of Java values, and of Java exceptions to kinds of outcomes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Any

from fscontract.contract.program.outcome import FILL, Kind, Outcome, notice, text_of
from fscontract.implementations.bindings.common import hide
from fscontract.implementations.jvm.jvm import java_class

#: The closest superclass in this table determines the kind; without one it is OTHER, as for an
#: Error.
_KINDS = {
    "java.io.EOFException": Kind.EOF,
    "java.io.FileNotFoundException": Kind.NOT_FOUND,
    "java.io.IOException": Kind.IO,
    "java.lang.IllegalArgumentException": Kind.ILLEGAL_ARGUMENT,
    "java.lang.IndexOutOfBoundsException": Kind.INDEX,
    "java.lang.NullPointerException": Kind.NULL,
    "java.lang.UnsupportedOperationException": Kind.UNSUPPORTED,
    # the connection to the store failed
    "java.net.ConnectException": Kind.ENVIRONMENT,
    "java.net.NoRouteToHostException": Kind.ENVIRONMENT,
    "java.net.UnknownHostException": Kind.ENVIRONMENT,
    "java.net.SocketTimeoutException": Kind.ENVIRONMENT,
}
#: Cache of the kinds of exception classes, because names of Java classes are slow to get.
_kinds_of: dict[type[BaseException], Kind] = {}
#: Exceptions that wrap their cause.
_WRAPPERS = frozenset(
    {
        "java.util.concurrent.ExecutionException",
        "java.util.concurrent.CompletionException",
        "java.io.UncheckedIOException",
        "java.lang.reflect.InvocationTargetException",
        "java.lang.reflect.UndeclaredThrowableException",
    }
)
#: Maximum depth of the search for causes.
_DEEPEST = 16
_LONGEST = 160


def outcome_of(error: BaseException, secrets: Iterable[str] = ()) -> Outcome:
    """Return the outcome of a call that raised."""
    error = unwrapped(error)
    notice(error, secrets)
    kind = _kind(error)
    if kind is Kind.IO and _cant_be_reached(error):
        kind = Kind.ENVIRONMENT
    return Outcome(kind, detail=told(error, secrets, full=kind is Kind.OTHER))


def unwrapped(error: BaseException) -> BaseException:
    """Return the exception inside its wrappers."""
    for _ in range(_DEEPEST):
        if type(error).__name__ not in _WRAPPERS:
            break
        cause = _cause(error)
        if cause is None:
            break
        error = cause
    return error


def told(error: BaseException, secrets: Iterable[str] = (), full: bool = False) -> str:
    """Return class and message on one line; `full` includes the Java package."""
    name = type(error).__name__
    text = text_of(error)
    if text.startswith(name):  # Throwable.toString includes the class name
        text = text[len(name) :].lstrip(": ")
    text = hide(text, secrets) if secrets or "://" in text else " ".join(text.split())
    class_name = name if full else name.rpartition(".")[2]
    return f"{class_name}: {text[:_LONGEST]}" if text else class_name


def _kind(error: BaseException) -> Kind:
    kind = _kinds_of.get(type(error))
    if kind is None:
        names = (cls.__name__ for cls in type(error).__mro__)
        kind = next((_KINDS[name] for name in names if name in _KINDS), Kind.OTHER)
        _kinds_of[type(error)] = kind
    return kind


def _cant_be_reached(error: BaseException) -> bool:
    for _ in range(_DEEPEST):
        cause = _cause(error)
        if cause is None:
            return False
        if _kind(cause) is Kind.ENVIRONMENT:
            return True
        error = cause
    return False


def _cause(error: BaseException) -> BaseException | None:
    """Return the Java cause; None for a Python exception, or if it is not available."""
    getter = getattr(error, "getCause", None)
    try:
        cause = getter() if getter is not None else None
    except Exception:  # code of the target may raise
        return None
    return cause if isinstance(cause, BaseException) else None


#: Buffers of Java allocators up to this size are filled with FILL, larger ones with 0.
_FILLED = 1 << 20


class Java:
    """Cache of Java lookups: primitive types, classes, typed nulls, functions."""

    def __init__(self) -> None:
        import jpype

        self._long, self._int = jpype.JLong, jpype.JInt
        #: Other argument types.
        self.double, self.short = jpype.JDouble, jpype.JShort
        self.boolean, self.string = jpype.JBoolean, jpype.JString
        #: A byte array, from a size or from bytes.
        self.bytes = jpype.JArray(jpype.JByte)
        self.throwable = jpype.JException
        self.object = jpype.JObject
        self.stream = java_class("org.apache.hadoop.fs.FSDataInputStream")
        self.path = java_class("org.apache.hadoop.fs.Path")
        self.byte_buffer = java_class("java.nio.ByteBuffer")
        self.seconds = java_class("java.util.concurrent.TimeUnit").SECONDS
        self.timeout = java_class("java.util.concurrent.TimeoutException")

    def long(self, value: int) -> Any:
        """Return a long; raise OverflowError where JPype would truncate."""
        return self._long(_within(value, 64))

    def int(self, value: int) -> Any:
        """Return an int; raise OverflowError."""
        return self._int(_within(value, 32))

    def null(self, of: Any) -> Any:
        """Return null as an argument of a type, given as a class or by name; not for Buffer."""
        return self.object(None, java_class(of) if isinstance(of, str) else of)

    @cached_property
    def klass(self) -> Any:
        """Class java.lang.Class."""
        return java_class("java.lang.Class")

    @cached_property
    def long_class(self) -> Any:
        """Class object of the primitive type long."""
        return java_class("java.lang.Long").TYPE

    def text(self, value: str | None) -> Any:
        """Return a String, or null of that type."""
        return self.null("java.lang.String") if value is None else self.string(value)

    def array_of(self, kind: Any, values: list[Any]) -> Any:
        """Return an array of a class."""
        import jpype

        return jpype.JArray(kind)(values)

    # Vectored reads, in Hadoop 3.3.5 and later -----------------------------------------------

    @cached_property
    def file_range(self) -> Any:
        """Class FileRange."""
        return java_class("org.apache.hadoop.fs.FileRange")

    @cached_property
    def array_list(self) -> Any:
        """Class ArrayList."""
        return java_class("java.util.ArrayList")

    @cached_property
    def allocate_heap(self) -> Any:
        """IntFunction that allocates a heap buffer, without a call of Python."""
        template = self.bytes(bytes([FILL]) * _FILLED)
        copy = self._static("java.util.Arrays", "copyOf", self.bytes, self.bytes, _INT)
        wrap = self._static("java.nio.ByteBuffer", "wrap", self.byte_buffer, self.bytes)
        filled = self._handles.filterReturnValue(copy.bindTo(template), wrap)
        return self._function("java.util.function.IntFunction", filled)

    @cached_property
    def allocate_direct(self) -> Any:
        """IntFunction that allocates a direct buffer."""
        make = self._static("java.nio.ByteBuffer", "allocateDirect", self.byte_buffer, _INT)
        return self._function("java.util.function.IntFunction", make)

    @cached_property
    def keep_nothing(self) -> Any:
        """Consumer that does nothing."""
        empty = self._handles.empty(self._type(_VOID, self.byte_buffer))
        return self._function("java.util.function.Consumer", empty)

    @cached_property
    def _handles(self) -> Any:
        return java_class("java.lang.invoke.MethodHandles")

    def _static(self, owner: str, name: str, returns: Any, *takes: Any) -> Any:
        kind = self._type(returns, *takes)
        return self._handles.publicLookup().findStatic(java_class(owner).class_, name, kind)

    def _type(self, returns: Any, *takes: Any) -> Any:
        classes = [_class_of(kind) for kind in (returns, *takes)]
        return java_class("java.lang.invoke.MethodType").methodType(*classes)

    def _function(self, interface: str, handle: Any) -> Any:
        proxies = java_class("java.lang.invoke.MethodHandleProxies")
        return proxies.asInterfaceInstance(java_class(interface).class_, handle)


def _within(value: int, bits: int) -> int:
    if not -1 << (bits - 1) <= value < 1 << (bits - 1):
        raise OverflowError(f"{value} exceeds {bits} bits")
    return value


_INT, _VOID = "java.lang.Integer", "java.lang.Void"


def _class_of(kind: Any) -> Any:
    """Return the Class of a class, or of a primitive type given by its wrapper name."""
    return java_class(kind).TYPE if isinstance(kind, str) else kind.class_


@lru_cache(maxsize=1)
def java() -> Java:
    """Return the cache of this process."""
    return Java()
