"""The replay command of a report shows the failure again when it is copied."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from inline_snapshot import snapshot

from tests.end_to_end.conftest import Command, Ended, Run

Again: TypeAlias = Callable[..., tuple[int, str]]
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


@pytest.fixture
def again(command: Run) -> Again:
    """Return a function that runs the first replay command of a report: exit code and output."""

    def run(ended: Ended, *more: str) -> tuple[int, str]:
        (line, *_) = (x for x in ended.stdout.splitlines() if x.startswith("  again "))
        name, *words = shlex.split(line.removeprefix("  again "))
        assert name == "fscontract"
        done = command(*words, *more)
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.mark.parametrize(
    ("arguments", "clause"),
    [
        (("file://{target}",), "read-fully.eof"),
        (("memory://x",), "python.writable.false"),
        (("file://{target}", "--profile", "./mine.yaml"), "read-fully.eof"),
        (("./mine.py:files", "--features", "!python-file-writable"), "python.writable.false"),
        (("zip://::file://{archive}", "--file", "in/it", "--content", "{copy}"), "seek.negative"),
        pytest.param(
            ("{no_ranges}", "--file", "file", "--content", "{copy}"),
            "pread.count",
            marks=pytest.mark.deep,
        ),
    ],
)
def test_copied_replay_command_fails_again_for_each_kind_of_target(
    arguments: tuple[str, ...],
    clause: str,
    check: Command,
    again: Again,
    place: Path,
    target: Path,
    archive: Path,
    copy: Path,
    no_ranges: str,
) -> None:
    (place / "mine.py").write_text(_MINE.replace("DIRECTORY", repr(str(target))))
    (place / "mine.yaml").write_text(_PROFILE)
    known = {"target": target, "archive": archive, "copy": copy, "no_ranges": no_ranges}
    ended = check(*(a.format(**known) for a in arguments), "--clauses", clause)
    code, text = again(ended)
    assert (code, text.splitlines()[0]) == (1, f"{clause}: still fails")
    assert "  program    f = open(" in text


def test_replay_asks_for_options_because_they_are_not_kept(
    check: Command, again: Again, place: Path
) -> None:
    (place / "mine.py").write_text(_MINE)
    ended = check("./mine.py:make", "-o", "auto_mkdir=true", "--clauses", "read-fully.eof")
    code, text = again(ended)
    assert code == 2
    assert re.sub(r"\S+\.json", "FILE", text) == snapshot(
        "fscontract: error: FILE: replay files omit values of options; specify -o auto_mkdir=...\n"
    )
    code, text = again(ended, "-o", "auto_mkdir=true")
    assert (code, text.splitlines()[0]) == (1, "read-fully.eof: still fails")
