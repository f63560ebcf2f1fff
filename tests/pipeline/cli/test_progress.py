"""Tests of progress output while reading."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from fscontract.pipeline.cli.output import ReadProgress


class Clock:
    """A manual clock."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_without_a_terminal_lines_are_printed_periodically(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """At most one line in ten seconds."""
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


def test_quiet_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """For any duration."""
    clock = Clock()
    with ReadProgress(True, True, clock) as progress:
        clock.now = 1000
        progress.show(1)
        progress.say("done")
    assert capsys.readouterr().err == ""
