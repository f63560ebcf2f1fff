"""Tracebacks of a target's exceptions: its own frames, without secrets, and bounded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fscontract import check
from fscontract.contract.program.outcome import raised
from fscontract.contract.runner.tracebacks import recorded, short_path, shown

#: A filesystem whose streams raise KeyError for a seek backwards.
STORE = """
import io
from fsspec.implementations.memory import MemoryFileSystem

class File(io.BytesIO):
    def seek(self, offset, whence=0):
        if offset < 0:
            self.give_up("{message}")
        return super().seek(offset, whence)

    def give_up(self, key):
        try:
            {{}}["cache"]
        except KeyError as error:
            raise LookupError(key) from error

class Store(MemoryFileSystem):
    cachable = False
    def _open(self, path, mode="rb", **options):
        file = super()._open(path, mode, **options)
        return File(file.getvalue()) if mode == "rb" else file

def make(password="none"):
    return Store()
"""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a target in the current directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "store.py").write_text(STORE.format(message="no swordfish"))
    return "store.py:make"


def test_counterexample_has_the_frames_of_the_target_only(store: str) -> None:
    """From its own first frame on, with the cause; the kit's frames are omitted."""
    result = check(store, clauses="python.seek.negative")
    assert result.counterexamples["python.seek.negative"].traceback == (
        'File "store.py", line 13, in give_up',
        '  {}["cache"]',
        "KeyError: 'cache'",
        "which is the cause of:",
        'File "store.py", line 8, in seek',
        '  self.give_up("no swordfish")',
        'File "store.py", line 15, in give_up',
        "  raise LookupError(key) from error",
        "LookupError: no swordfish",
    )


def test_traceback_has_no_secret_of_the_options(store: str) -> None:
    """Neither in messages nor in lines of source."""
    result = check(store, clauses="python.seek.negative", options={"password": "swordfish"})
    text = "\n".join(result.counterexamples["python.seek.negative"].traceback)
    assert "swordfish" not in text
    assert "LookupError: no ***" in text


def test_wrong_value_has_no_traceback(store: str) -> None:
    """Only exceptions have one."""
    result = check(store, clauses="python.writable.false")
    assert result.counterexamples["python.writable.false"].traceback == ()


def _deep(depth: int) -> None:
    if depth == 0:
        raise OSError("x" * 500)
    _deep(depth - 1)


def _caught(call: Callable[[], object]) -> Exception:
    try:
        call()
    except Exception as error:
        return error
    raise AssertionError


def test_long_traceback_is_bounded() -> None:
    """The first frame, the innermost ones, and the beginning of the message."""
    lines = shown(_caught(lambda: _deep(50)))
    assert len(lines) < 25
    assert any(line.startswith("... ") for line in lines)
    assert max(map(len, lines)) < 300


def test_exception_without_a_frame_of_the_target_has_no_traceback() -> None:
    """A message of the kit says enough."""
    assert shown(OSError("made, not raised")) == ()


def test_secrets_are_hidden() -> None:
    """Those of the call that raised."""
    error = _caught(lambda: int("swordfish"))
    assert "swordfish" not in "".join(shown(error, ["swordfish"])[-1:])


def test_recorder_keeps_the_last_exception_of_each_call() -> None:
    """Under the index that the call has."""
    index = 0
    first, second, third = (_caught(lambda: int("a")) for _ in range(3))
    with recorded(lambda: index) as recorder:
        raised(first)
        raised(second)
        index = 1
        raised(third)
    assert [recorder.exception(n) for n in (0, 1, 2)] == [second, third, None]
    assert recorder.shown(2) == ()
    assert recorder.shown(1)[-1].startswith("ValueError")


def test_path_of_a_library_is_relative_to_its_folder() -> None:
    """The name it is imported by; a path elsewhere does not change."""
    assert short_path("/x/lib/python3.11/site-packages/fsspec/spec.py") == "fsspec/spec.py"
    assert short_path("/elsewhere/my.py") == "/elsewhere/my.py"
