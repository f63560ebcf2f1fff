"""Stream operations through Python's binary file protocol.

`IDIOMS` translates exceptions where Python and Hadoop differ. The `py_*` operations are not
translated.
"""

from __future__ import annotations

import errno
import io
from array import array
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, Protocol, TypeAlias

from fscontract.contract.binding import Action, Opened
from fscontract.contract.program.outcome import INEXPRESSIBLE, Kind, Outcome, raised
from fscontract.contract.program.program import Step
from fscontract.implementations.bindings.common import blank, fits, plain_bytes, several

FileOf: TypeAlias = Callable[[Opened], Any]


_RETURNED = Kind.RETURNED
_AT_END = Outcome(_RETURNED, None)
#: The outcome of a with block whose exception the file suppressed.
_SUPPRESSED = "the exception was suppressed"
#: Iteration is cut after this many lines: that of a faulty file may never end.
_MOST_LINES = 1 << 16


class _LeftBlockError(Exception):
    """Ends a with block."""


class Fail(Protocol):
    """Converts an exception to an outcome, as `raised` does."""

    def __call__(self, error: Exception, kind: Kind | None = None) -> Outcome:
        """Return the outcome of a call that raised; `kind` overrides the classification."""
        ...


def bind_python(step: Step, file: FileOf, fail: Fail = raised) -> Action:
    """Return a `py_*` step as a function of an opened stream."""
    return _MAKERS[step.op](file, fail, *step.args)


def inexpressible(_opened: Opened) -> Outcome:
    """Return the outcome of a call that the API can't express."""
    return INEXPRESSIBLE


def _call(name: str) -> Callable[..., Action]:
    def make(file: FileOf, fail: Fail, *args: Any) -> Action:
        def run(opened: Opened) -> Outcome:
            try:
                return Outcome(_RETURNED, getattr(file(opened), name)(*args))
            except Exception as error:
                return fail(error)

        return run

    return make


def _own(name: str) -> Callable[..., Action]:
    """Return a maker of calls of a method that only raw or only buffered files have.

    A size of None is left out.
    """

    def make(file: FileOf, fail: Fail, *sizes: int | None) -> Action:
        args = [size for size in sizes if size is not None]

        def run(opened: Opened) -> Outcome:
            try:
                target = file(opened)
                if not hasattr(target, name):
                    return INEXPRESSIBLE
                return Outcome(_RETURNED, getattr(target, name)(*args))
            except Exception as error:
                return fail(error)

        return run

    return make


def _readline(file: FileOf, fail: Fail, limit: int | None) -> Action:
    # readline does not document None: omit the argument for no limit
    return _call("readline")(file, fail, *(() if limit is None else (limit,)))


def _readlines(file: FileOf, fail: Fail, hint: int | None) -> Action:
    args = () if hint is None else (hint,)

    def run(opened: Opened) -> Outcome:
        try:
            return Outcome(_RETURNED, tuple(several(file(opened).readlines(*args))))
        except Exception as error:
            return fail(error)

    return run


def _readinto1(file: FileOf, fail: Fail, form: str, size: int) -> Action:
    read = _readinto(file, fail, form, size, "readinto1")

    def run(opened: Opened) -> Outcome:
        try:
            has = hasattr(file(opened), "readinto1")
        except Exception as error:
            return fail(error)
        return read(opened) if has else INEXPRESSIBLE

    return run


def _readinto(
    file: FileOf, fail: Fail, form: str, size: int | None, name: str = "readinto"
) -> Action:
    if size is None:
        return _call("readinto")(file, fail, None)
    if size < 0 or (form == "2d" and size == 0):
        return inexpressible
    make = _BUFFERS[form]

    def run(opened: Opened) -> Outcome:
        buffer, bytes_of = make(size)
        try:
            count = getattr(file(opened), name)(buffer)
        except Exception as error:
            outcome = fail(error)
            # A buffer that can't be written must be as before, whatever happens.
            return outcome._replace(buffer=bytes_of()) if form == "readonly" else outcome
        return Outcome(_RETURNED, count, bytes_of())

    return run


#: A buffer, and a function that returns its bytes, followed by those around it.
_Made: TypeAlias = tuple[Any, Callable[[], bytes]]


def _array(code: str) -> Callable[[int], _Made]:
    def make(size: int) -> _Made:
        items = array(code)
        items.frombytes(blank(items.itemsize * size))
        return items, items.tobytes

    return make


def _view(item: int, cast: Callable[[memoryview, int], memoryview]) -> Callable[[int], _Made]:
    def make(size: int) -> _Made:
        view = cast(memoryview(bytearray(blank(item * size))), size)
        return view, view.tobytes

    return make


def _bytearray(size: int) -> _Made:
    buffer = bytearray(blank(size))
    return buffer, lambda: bytes(buffer)


def _slice(size: int) -> _Made:
    whole = bytearray(blank(size + 6))
    return memoryview(whole)[3 : 3 + size], lambda: bytes(
        whole[3 : 3 + size] + whole[:3] + whole[3 + size :]
    )


def _strided(size: int) -> _Made:
    whole = bytearray(blank(2 * size))
    return memoryview(whole)[::2], lambda: bytes(whole[::2] + whole[1::2])


_BUFFERS: dict[str, Callable[[int], _Made]] = {
    "B": _view(1, lambda view, size: view),
    "b": _view(1, lambda view, size: view.cast("b")),
    "H": _array("H"),
    "I": _array("I"),
    "d": _array("d"),
    "Q": _view(8, lambda view, size: view.cast("Q")),
    "2d": _view(2, lambda view, size: view.cast("B", (size, 2))),
    "bytearray": _bytearray,
    "slice": _slice,
    "strided": _strided,
    "readonly": _view(1, lambda view, size: view.toreadonly()),
}


def _next(file: FileOf, fail: Fail) -> Action:
    def run(opened: Opened) -> Outcome:
        try:
            lines = file(opened)
            return Outcome(
                _RETURNED, next(lines if hasattr(type(lines), "__next__") else iter(lines))
            )
        except StopIteration:
            return _AT_END
        except Exception as error:
            return fail(error)

    return run


def _iterate(file: FileOf, fail: Fail) -> Action:
    def run(opened: Opened) -> Outcome:
        try:
            return Outcome(_RETURNED, tuple(islice(file(opened), _MOST_LINES)))
        except Exception as error:
            return fail(error)

    return run


def _closed(file: FileOf, fail: Fail) -> Action:
    def run(opened: Opened) -> Outcome:
        try:
            return Outcome(_RETURNED, file(opened).closed)
        except Exception as error:
            return fail(error)

    return run


def _tell(file: FileOf, fail: Fail) -> Action:
    def run(opened: Opened) -> Outcome:
        try:
            return _position(file(opened))
        except Exception as error:
            return fail(error)

    return run


def _with(file: FileOf, fail: Fail) -> Action:
    def run(opened: Opened) -> Outcome:
        try:
            with file(opened) as entered:
                pass
            return Outcome(_RETURNED, entered.closed)
        except Exception as error:
            return fail(error)

    return run


def _with_error(file: FileOf, fail: Fail) -> Action:
    def run(opened: Opened) -> Outcome:
        try:
            with file(opened) as entered:
                raise _LeftBlockError
        except _LeftBlockError:
            return Outcome(_RETURNED, entered.closed)
        except Exception as error:
            return fail(error)
        return Outcome(_RETURNED, _SUPPRESSED)

    return run


def _write(file: FileOf, fail: Fail) -> Action:
    return _call("write")(file, fail, b"x")


_MAKERS: dict[str, Callable[..., Action]] = {
    "py_read": _call("read"),
    "py_read_default": _call("read"),
    "py_readall": _own("readall"),
    "py_readinto": _readinto,
    "py_read1": _own("read1"),
    "py_readinto1": _readinto1,
    "py_peek": _own("peek"),
    "py_seek": _call("seek"),
    "py_tell": _tell,
    "py_readline": _readline,
    "py_readlines": _readlines,
    "py_next": _next,
    "py_iterate": _iterate,
    "py_closed": _closed,
    "py_readable": _call("readable"),
    "py_seekable": _call("seekable"),
    "py_writable": _call("writable"),
    "py_with": _with,
    "py_with_error": _with_error,
    "py_write": _write,
    "py_flush": _own("flush"),
}
#: All operations of the protocol.
PYTHON_OPERATIONS = frozenset(_MAKERS)


_END_OF_FILE = Outcome(_RETURNED, -1)
_WOULD_BLOCK = Outcome(Kind.OTHER, detail="None: the file is non-blocking and has no data")


def is_closed(file: Any) -> bool:
    """Return whether a Python file reports being closed; False if it has no `closed`."""
    try:
        return bool(file.closed)
    except Exception:
        return False


class Idiom(NamedTuple):
    """A difference between Python and Hadoop: operations (None: all), and the meaning."""

    operations: frozenset[str] | None
    says: Callable[[Exception, Any], bool]
    means: Kind
    because: str


IDIOMS = (
    Idiom(
        None,
        lambda error, file: (
            isinstance(error, ValueError) and (is_closed(file) or "closed file" in str(error))
        ),
        Kind.IO,
        "io documents ValueError for every operation on a closed file",
    ),
    Idiom(
        frozenset({"seek"}),
        lambda error, _file: isinstance(error, ValueError | OverflowError),
        Kind.EOF,
        "io documents no exception for an invalid position; BytesIO and fsspec raise ValueError, "
        "and OverflowError for a position beyond 64 bits",
    ),
    Idiom(
        frozenset({"seek"}),
        lambda error, _file: isinstance(error, OSError) and error.errno == errno.EINVAL,
        Kind.EOF,
        "lseek's way to reject a position, passed on by raw files",
    ),
)


def translate(op: str, error: Exception, file: Any, fail: Fail) -> Outcome:
    """Return the outcome of a stream operation that raised `error` on a Python file."""
    if not isinstance(error, io.UnsupportedOperation):
        for idiom in IDIOMS:
            if (idiom.operations is None or op in idiom.operations) and idiom.says(error, file):
                return fail(error, idiom.means)
    return fail(error)


class _Stub(NamedTuple):
    """A file of which only `closed` matters."""

    closed: bool


def failed_step(step: Step, error: Exception, closed: bool, fail: Fail = raised) -> Outcome:
    """Return the outcome of a step that raised on a Python file that is closed, or is not."""
    if step.op in FILE_OPERATIONS:
        return translate(step.op, error, _Stub(closed), fail)
    return fail(error)


def bind_file(step: Step, file: FileOf, fail: Fail = raised) -> Action:
    """Return a step of FILE_OPERATIONS as a function of an opened stream."""
    attempt = _FILE_MAKERS[step.op](*step.args)
    if attempt is None:
        return inexpressible
    op = step.op

    def run(opened: Opened) -> Outcome:
        target = None
        try:
            target = file(opened)
            return attempt(target)
        except Exception as error:
            return translate(op, error, target, fail)

    return run


def _close() -> Callable[[Any], Outcome]:
    return lambda file: Outcome(_RETURNED, file.close())


def _get_pos() -> Callable[[Any], Outcome]:
    return _position


def _position(file: Any) -> Outcome:
    """Return the position; a file that can't seek need not know it."""
    try:
        return Outcome(_RETURNED, file.tell())
    except OSError as error:
        if isinstance(error, io.UnsupportedOperation) if file.closed else not file.seekable():
            return INEXPRESSIBLE
        raise


def _seek(position: int) -> Callable[[Any], Outcome]:
    def attempt(file: Any) -> Outcome:
        file.seek(position)
        return Outcome(_RETURNED)

    return attempt


def _read_byte() -> Callable[[Any], Outcome]:
    def attempt(file: Any) -> Outcome:
        data = file.read(1)
        if data is None:
            return _WOULD_BLOCK
        data = plain_bytes(data)
        if len(data) > 1:
            return Outcome(Kind.OTHER, detail=f"read(1) returned {len(data)} bytes")
        return Outcome(_RETURNED, data[0]) if data else _END_OF_FILE

    return attempt


def _read_into(size: int | None, offset: int, length: int) -> Callable[[Any], Outcome] | None:
    if size is None or not fits(size, offset, length):
        return None  # a slice can't exceed its buffer
    source, end = blank(size), offset + length

    def attempt(file: Any) -> Outcome:
        buffer = bytearray(source)
        window = memoryview(buffer)[offset:end]
        read = file.readinto if hasattr(file, "readinto") else partial(_read_and_copy, file)
        try:
            count = read(window)
        except (io.UnsupportedOperation, NotImplementedError):  # IOBase permits that of readinto()
            count = _read_and_copy(file, window)
        if count is None:
            return _WOULD_BLOCK
        if count == 0 and length > 0:
            count = -1
        return Outcome(_RETURNED, count, bytes(buffer))

    return attempt


def _read_and_copy(file: Any, window: memoryview) -> int | None:
    data = file.read(len(window))
    if data is None:
        return None
    data = plain_bytes(data)
    kept = data[: len(window)]
    window[: len(kept)] = kept
    return len(data)


_FILE_MAKERS: dict[str, Callable[..., Callable[[Any], Outcome] | None]] = {
    "close": _close,
    "get_pos": _get_pos,
    "seek": _seek,
    "read_byte": _read_byte,
    "read_into": _read_into,
}
#: Stream operations that the file protocol can express.
FILE_OPERATIONS = frozenset(_FILE_MAKERS)
