"""The command that a report gives to run a failure again does so when it is copied."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Command, Ended
from tests.limits import DEADLOCK

_MINE = """
import io
from fsspec.implementations.local import LocalFileSystem
from fscontract.implementations.bindings.python_file import PythonFileBinding

def files():
    return PythonFileBinding(lambda path: io.BytesIO(open(path, "rb").read()), DIRECTORY, "mine")

def make(auto_mkdir):
    return LocalFileSystem(auto_mkdir=auto_mkdir)
"""
_PROFILE = "name: mine\ntitle: Mine\nextends: fsspec\nfeatures: {supports-vectored-io: false}\n"


def again(ended: Ended, place: Path, *more: str) -> tuple[int, str]:
    """Exit code and output of the first replay command in a report, run where the check ran."""
    (line, *_) = (x for x in ended.stdout.splitlines() if x.startswith("  again "))
    words = shlex.split(line.removeprefix("  again "))
    assert words[0] == "fscontract"
    done = subprocess.run(
        [sys.executable, "-m", *words, *more],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=DEADLOCK,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "clause"),
    [
        (("file://{target}",), "read-fully.eof"),
        (("memory://x",), "python.writable.false"),
        (("file://{target}", "--profile", "./mine.yaml"), "read-fully.eof"),
        (("./mine.py:files",), "python.writable.false"),
        (("zip://::file://{archive}", "--file", "in/it", "--content", "{copy}"), "seek.negative"),
        (("{no_ranges}", "--file", "file", "--content", "{copy}"), "pread.count"),
    ],
)
def test_a_copied_command_shows_the_failure_again(
    arguments: tuple[str, ...],
    clause: str,
    check: Command,
    place: Path,
    target: Path,
    archive: Path,
    copy: Path,
    no_ranges: str,
) -> None:
    """Whatever kind of target it was."""
    (place / "mine.py").write_text(_MINE.replace("DIRECTORY", repr(str(target))))
    (place / "mine.yaml").write_text(_PROFILE)
    known = {"target": target, "archive": archive, "copy": copy, "no_ranges": no_ranges}
    ended = check(*(a.format(**known) for a in arguments), "--clauses", clause)
    code, text = again(ended, place)
    assert (code, text.splitlines()[0]) == (1, f"{clause}: still fails")
    assert "  program    f = open(" in text


def test_options_are_asked_for_and_not_kept(check: Command, place: Path) -> None:
    """They may be secret."""
    (place / "mine.py").write_text(_MINE)
    ended = check("./mine.py:make", "-o", "auto_mkdir=true", "--clauses", "read-fully.eof")
    code, text = again(ended, place)
    assert code == 2
    assert "keeps no values of options: give -o auto_mkdir=... again" in text
    code, text = again(ended, place, "-o", "auto_mkdir=true")
    assert (code, text.splitlines()[0]) == (1, "read-fully.eof: still fails")
