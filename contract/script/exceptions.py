"""Write which exceptions of Python a call may raise."""

from __future__ import annotations

import errno
import io
from collections.abc import Callable

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
_UNSUPPORTED = "io.UnsupportedOperation"


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
