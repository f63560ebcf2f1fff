"""What is said while a reader works."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from fscontract.pipeline.cli.output import ReadProgress


class Clock:
    """Time that only moves when it is told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_where_there_is_no_terminal_a_line_is_said_now_and_then(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Not more than one in ten seconds, whatever is read."""
    clock = Clock()
    with ReadProgress(False, True, clock) as progress:
        for _ in range(25):
            clock.now += 1
            progress.bytes += 1000
            progress.records += 7
            progress.show(50_000)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        snapshot("10,000 of 50,000 bytes, 70 records\n20,000 of 50,000 bytes, 140 records\n")
    )
    assert progress.seconds == 25


def test_nothing_is_said_if_it_is_to_be_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    """However long it takes."""
    clock = Clock()
    with ReadProgress(True, True, clock) as progress:
        clock.now = 1000
        progress.show(1)
        progress.say("done")
    assert capsys.readouterr().err == ""
