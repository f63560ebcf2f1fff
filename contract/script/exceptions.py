"""Write which exceptions a call may raise."""

from __future__ import annotations

import errno
import io
import re
from collections.abc import Callable

from fscontract.contract.program.outcome import Kind

#: Exceptions that a call may raise.
_CLASSES: tuple[type[Exception], ...] = (
    EOFError,
    OSError,
    ValueError,
    IndexError,
    TypeError,
    NotImplementedError,
    OverflowError,
)
#: The exceptions of Python and of Java for the kinds in the texts of outcomes.
_NAMES = {
    Kind.EOF: ("EOFError", "EOFException"),
    Kind.IO: ("OSError", "IOException"),
    Kind.NOT_FOUND: ("FileNotFoundError", "FileNotFoundException"),
    Kind.ILLEGAL_ARGUMENT: ("ValueError", "IllegalArgumentException"),
    Kind.INDEX: ("IndexError", "IndexOutOfBoundsException"),
    Kind.NULL: ("TypeError", "NullPointerException"),
    Kind.UNSUPPORTED: ("io.UnsupportedOperation", "UnsupportedOperationException"),
    Kind.OTHER: ("another exception", "another exception"),
}
#: A pattern of the kinds in texts of outcomes.
KINDS = "|".join(_NAMES)
_UNSUPPORTED = "io.UnsupportedOperation"


def with_classes(text: str, is_java: bool) -> str:
    """Return a text of outcomes with exceptions of Java or of Python for their kinds."""
    return re.sub(rf"\b({KINDS})\b", lambda kind: _NAMES[Kind(kind[0])][is_java], text)


def exception_classes(
    permits: Callable[[Exception], bool], has_numbers: bool
) -> tuple[list[str], list[str]]:
    """Return the classes of the permitted exceptions, and further conditions of `actual`.

    `has_numbers` means that the call has an argument that may be too large.
    """
    if permits(RuntimeError("")):
        return ["Exception"], []
    names = [cls.__name__ for cls in _CLASSES if permits(cls(""))]
    if "OSError" not in names and permits(FileNotFoundError("")):
        names.append("FileNotFoundError")
    if not has_numbers:
        names = [name for name in names if name != "OverflowError"]
    more = []
    unsupported = permits(io.UnsupportedOperation(""))
    covers = {"OSError", "ValueError"} & set(names)
    if unsupported and not covers:
        names.append(_UNSUPPORTED)
    elif covers and not unsupported:
        more.append(f"not isinstance(actual, {_UNSUPPORTED})")
    if "OSError" not in names and permits(OSError(errno.EINVAL, "")):
        names.append("OSError")
        more.append('getattr(actual, "errno", errno.EINVAL) == errno.EINVAL')
    return names, more
