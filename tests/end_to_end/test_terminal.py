"""The command at a terminal, in CI, and interrupted."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.limits import DEADLOCK

_ESCAPE = re.compile(r"\x1b\[[\d;?]*[A-Za-z]")

#: A run with few programs may end before its progress is shown.
pytestmark = pytest.mark.all_programs


@dataclass(frozen=True)
class Shown:
    """The end of a command, and everything that the terminal received, escapes included."""

    code: int
    raw: str

    @property
    def text(self) -> str:
        """Return the output without escapes."""
        return _ESCAPE.sub("", self.raw).replace("\r\n", "\n")


def at_terminal(
    place: Path,
    *args: str,
    interrupt_at: str = "",
    columns: int = 80,
    environment: Mapping[str, str] | None = None,
) -> Shown:
    """Run a command at a terminal; interrupt it once `interrupt_at` matches its output."""
    ours, theirs = pty.openpty()
    known = {k: v for k, v in os.environ.items() if k not in ("CI", "NO_COLOR", "COLUMNS")}
    usual = {**known, "TERM": "xterm-256color", "COLUMNS": str(columns)}
    with subprocess.Popen(
        [sys.executable, "-m", "fscontract", *args],
        cwd=place,
        env={**usual, **(environment or {})},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as running:
        os.close(theirs)
        try:
            raw = _read(ours, running, interrupt_at)
            code = running.wait(DEADLOCK)
        finally:
            running.kill()
            os.close(ours)
    return Shown(code, raw)


def _read(terminal: int, running: subprocess.Popen[bytes], interrupt_at: str) -> str:
    raw, deadline = b"", time.monotonic() + DEADLOCK
    while True:
        ready, _, _ = select.select([terminal], [], [], deadline - time.monotonic())
        assert ready, raw
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:  # the other end is closed
            part = b""
        raw += part
        if not part:
            return raw.decode()
        if interrupt_at and re.search(interrupt_at.encode(), raw):
            running.send_signal(signal.SIGINT)
            interrupt_at = ""


DEEP = ("check", "memory://", "--effort", "deep", "--clauses", "python.*", "--level", "must")


def test_progress_is_shown_during_a_run_and_removed_at_its_end(place: Path) -> None:
    shown = at_terminal(place, "check", "memory", "--clauses", "fsdatainputstream")
    assert shown.code == 0
    line = re.search(r"exhaustive · [\d,]+ programs · .*? violations", shown.text)
    assert line is not None
    assert line[0].endswith(" 0 violations")
    assert re.sub(r"[\d,]*\d", "N", line[0]) == snapshot(
        "exhaustive · N programs · N of N clauses · N violations"
    )
    assert "\x1b[1;32mconforms:" in shown.raw
    assert "exhaustive" not in shown.raw[shown.raw.rindex("\x1b[2K") :]


@pytest.mark.parametrize(("name", "value"), [("CI", "true"), ("TERM", "dumb")])
def test_ci_prints_plain_lines_without_escapes(name: str, value: str, place: Path) -> None:
    command = ("check", "memory", "--clauses", "seek.zero")
    shown = at_terminal(place, *command, environment={name: value})
    assert shown.code == 0
    assert "\x1b" not in shown.raw
    assert "phase exhaustive\n" in shown.text


def test_no_color_removes_colours_and_keeps_progress(place: Path) -> None:
    shown = at_terminal(
        place, "check", "memory", "--clauses", "seek.zero", environment={"NO_COLOR": "1"}
    )
    assert not re.search(r"\x1b\[[\d;]*3\dm", shown.raw)
    assert "\x1b[?25l" in shown.raw


def test_quiet_prints_one_line(place: Path) -> None:
    shown = at_terminal(place, "check", "memory", "--clauses", "seek.zero", "-q", columns=200)
    assert shown.raw == snapshot("memory: conforms: 1 clause holds\r\n")


@pytest.mark.parametrize("more", [(), ("--no-isolate",)])
def test_ctrl_c_reports_violations_and_no_passes(more: tuple[str, ...], place: Path) -> None:
    files = ("--json", "r.json", "--junit", "r.xml", "--html", "r.html")
    shown = at_terminal(place, *DEEP, *files, *more, interrupt_at="[1-9] violation")
    assert shown.code == 130, shown.text
    assert "FAIL  python." in shown.text
    assert "error: the run was interrupted" in shown.text
    assert "does not conform" not in shown.text
    (last,) = (line for line in shown.text.splitlines() if line.startswith("interrupted: "))
    assert re.sub(r"\d+", "N", last.replace("clauses", "clause").partition(" fail")[0]) == snapshot(
        "interrupted: N of N verified clause"
    )
    assert shown.text.rstrip().endswith("fscontract: error: interrupted")
    assert "Traceback" not in shown.text
    assert "\x1b[?25h" in shown.raw[shown.raw.rindex("\x1b[?25l") :]
    report = json.loads((place / "r.json").read_text())
    outcomes = {c["outcome"] for c in report["clauses"]}
    assert "fail" in outcomes
    assert "pass" not in outcomes
    assert report["conforms"] is False
    replays = [c["counterexample"]["replay"] for c in report["clauses"] if c["counterexample"]]
    assert all((place / path).exists() for path in replays if path)
    assert (place / "r.xml").stat().st_size > 0
    assert "the run was interrupted" in (place / "r.html").read_text()


def test_ctrl_c_during_set_up_writes_no_report(place: Path) -> None:
    (place / "slow.py").write_text(
        "import threading\n\ndef make():\n    threading.Event().wait()\n"
    )
    shown = at_terminal(
        place, "check", "slow.py:make", "--json", "r.json", interrupt_at="setting up slow.py:make"
    )
    assert shown.code == 130
    assert not (place / "r.json").exists()
    assert "Traceback" not in shown.text


def test_failed_set_up_is_printed_once(place: Path) -> None:
    """stdout and stderr are one terminal."""
    (place / "bad.py").write_text("def make():\n    raise OSError('no way in')\n")
    shown = at_terminal(place, "check", "./bad.py:make", columns=200)
    assert shown.code == 3
    assert shown.text.count("no way in") == 1
    shown = at_terminal(place, "check", "./bad.py:make", "-q", columns=200)
    assert shown.text.count("no way in") == 1
