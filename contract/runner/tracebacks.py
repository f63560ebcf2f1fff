"""Record exceptions and methods of a program's calls; show exceptions by the target's frames."""

from __future__ import annotations

import os
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager, nullcontext
from itertools import dropwhile
from pathlib import Path
from threading import Thread

from fscontract.contract.binding import Binding, MethodCall
from fscontract.contract.program.outcome import clip, observed_by, text_of
from fscontract.contract.text import mask

_PACKAGE = Path(__file__).parents[2]
#: Folders of the code that calls targets. Reference filesystems are targets, too.
_CALLERS = tuple(
    f"{_PACKAGE.joinpath(*parts)}{os.sep}"
    for parts in (("contract",), ("implementations", "bindings"))
)
_LIBRARIES = f"{os.sep}site-packages{os.sep}"
#: What is between a function and its file.
_OF = " of "
_STANDARD = os.path.join(sysconfig.get_path("stdlib"), "")
#: The start of a line of a frame that is in the standard library.
IN_STANDARD = f'File "{_STANDARD}'
#: The exceptions of a chain, the frames of one exception, and the characters of a line shown.
_MAX_EXCEPTIONS, _MAX_FRAMES, _MAX_LINE = 3, 8, 200


class Recorder:
    """Keeps the last exception of each call of a program, and the methods that it calls."""

    def __init__(self, index: Callable[[], int]) -> None:
        self._index = index
        self._raised: dict[int, tuple[BaseException, tuple[str, ...]]] = {}
        self._methods: dict[int, list[MethodCall]] = {}

    def __call__(self, error: BaseException, secrets: tuple[str, ...]) -> None:
        """Keep an exception of the call that runs now."""
        self._raised[self._index()] = error, secrets

    def observe(self, method: MethodCall) -> None:
        """Keep a method that the call that runs now has called."""
        self._methods.setdefault(self._index(), []).append(method)

    def methods(self, index: int) -> tuple[MethodCall, ...]:
        """Return the methods of the target that the call with this index called."""
        return tuple(self._methods.get(index, ()))

    def exception(self, index: int) -> BaseException | None:
        """Return the exception of the call with this index, if it raised one."""
        return self._raised[index][0] if index in self._raised else None

    def shown(self, index: int) -> tuple[str, ...]:
        """Return the traceback of the call with this index; empty if it has no frame."""
        return shown(*self._raised[index]) if index in self._raised else ()


@contextmanager
def recorded(index: Callable[[], int], binding: Binding | None = None) -> Iterator[Recorder]:
    """Record the exceptions of calls, and the methods of the target of `binding` that they call.

    `index` returns the index of the running call.
    """
    recorder = Recorder(index)
    methods = nullcontext() if binding is None else binding.method_calls(recorder.observe)
    with observed_by(recorder), methods:
        yield recorder


def shown(error: BaseException, secrets: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the lines of a traceback from the target's first frame on, without `secrets`.

    The exceptions that caused it come first, as in Python. Empty if no frame is the target's.
    """
    secrets = tuple(secrets)
    lines: list[str] = []
    for one, link in reversed(list(_chain(error))):
        frames = own_frames(one)
        if frames or one is error:
            lines += [*_frame_lines(frames), _last_line(one), *([link] if link else [])]
    if not own_frames(error) and len(lines) == 1:
        return ()
    return tuple(clip(mask(line, secrets), _MAX_LINE) for line in lines)


def own_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """Return the frames of a traceback, without the outer ones, which are the kit's."""
    return list(dropwhile(_is_of_kit, traceback.extract_tb(error.__traceback__)))


def frames_of(thread: Thread) -> list[traceback.FrameSummary]:
    """Return the frames in which a thread that calls the target is now, without the outer ones."""
    stack = traceback.extract_stack(sys._current_frames().get(thread.ident or 0))
    return list(dropwhile(_is_of_kit, dropwhile(lambda frame: not _is_of_kit(frame), stack)))


def lines_of(frames: list[traceback.FrameSummary]) -> tuple[str, ...]:
    """Return the lines of frames as in a traceback."""
    return tuple(clip(line, _MAX_LINE) for line in _frame_lines(frames))


def functions_of(frames: list[traceback.FrameSummary]) -> tuple[str, ...]:
    """Return the functions of frames with their files, without those of the standard library."""
    return tuple(
        f"{frame.name}{_OF}{frame.filename}"
        for frame in frames
        if _LIBRARIES in frame.filename or not frame.filename.startswith(_STANDARD)
    )


def ends_in(functions: Set[str], called: Sequence[str]) -> bool:
    """Return whether the innermost of the functions that are called is one of `functions`."""
    return not functions.isdisjoint(called[-1:])


def functions_in(traits: Iterable[str]) -> frozenset[str]:
    """Return those of these traits of a failure that are functions."""
    return frozenset(trait for trait in traits if _OF in trait)


def _is_of_kit(frame: traceback.FrameSummary) -> bool:
    return is_caller(frame.filename)


def is_caller(filename: str) -> bool:
    """Return whether a file has code of the kit that calls targets."""
    return filename.startswith(_CALLERS)


def short_path(filename: str) -> str:
    """Return a path relative to the folder of libraries, or to the current directory, if inside."""
    if _LIBRARIES in filename:
        return filename.rpartition(_LIBRARIES)[2]
    try:
        here = os.path.join(os.getcwd(), "")
    except OSError:  # the directory was removed
        return filename
    return filename.removeprefix(here)


def _chain(error: BaseException) -> Iterator[tuple[BaseException, str]]:
    """Yield an exception and those before it, each with the line that leads to the next one."""
    link, seen = "", set[int]()
    current: BaseException | None = error
    while current is not None and id(current) not in seen and len(seen) < _MAX_EXCEPTIONS:
        yield current, link
        seen.add(id(current))
        if current.__cause__ is not None:
            current, link = current.__cause__, "which is the cause of:"
        else:
            current = None if current.__suppress_context__ else current.__context__
            link = "and while it was handled:"


def _frame_lines(frames: list[traceback.FrameSummary]) -> Iterator[str]:
    omitted = len(frames) - _MAX_FRAMES
    for number, frame in enumerate(frames):
        if omitted > 0 and 0 < number <= omitted:
            if number == 1:
                yield f"... {omitted} more"
            continue
        yield f'File "{short_path(frame.filename)}", line {frame.lineno}, in {frame.name}'
        if frame.line:
            yield f"  {frame.line}"


def _last_line(error: BaseException) -> str:
    text = " ".join(text_of(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
