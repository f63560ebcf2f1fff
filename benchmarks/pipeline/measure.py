"""Alternating timing, with the load of other processes."""

from __future__ import annotations

import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

Run = Callable[[], Any]
MIB = 1 << 20
_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Row:
    """Cost of one way: seconds per round, of this process's CPU, and of other processes."""

    name: str
    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    foreign: list[float] = field(default_factory=list)
    failed: str = ""

    @property
    def median(self) -> float:
        """Median in seconds."""
        return statistics.median(self.seconds)


def time_in_turns(runs: Mapping[str, Run], expected: Any, rounds: int) -> list[Row]:
    """Time every way, after a warm-up round, in an order that changes each round.

    A way that does not return `expected` fails.
    """
    rows = {name: Row(name) for name in runs}
    for number in range(rounds + 1):
        order = [name for name in runs if not rows[name].failed]
        random.Random(number).shuffle(order)
        for name in order:
            before, machine, start = own_seconds(), busy_seconds(), time.perf_counter()
            try:
                answer = runs[name]()
            except Exception as error:  # any error shows that the library can't do this
                rows[name].failed = f"{type(error).__name__}: {error}".splitlines()[0][:120]
                continue
            taken = time.perf_counter() - start
            own = max(0.0, own_seconds() - before)
            if answer != expected:
                rows[name].failed = f"returned {answer}, expected {expected}"
            elif number:
                rows[name].seconds.append(taken)
                rows[name].processor.append(own)
                rows[name].foreign.append(max(0.0, busy_seconds() - machine - own) / taken)
        say(f"completed round {number} of {rounds}")
    return list(rows.values())


def own_seconds() -> float:
    """Return the CPU seconds of this process and its descendants."""
    return sum(sum(map(int, fields[11:15])) for fields in _family().values()) / _TICKS


def _family() -> dict[int, list[str]]:
    """Return this process and its descendants, with fields of `/proc/PID/stat` after the name."""
    children: dict[int, list[int]] = {}
    processes: dict[int, list[str]] = {}
    for folder in _PROC.iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has just ended
                continue
            children.setdefault(int(fields[1]), []).append(int(folder.name))
            processes[int(folder.name)] = fields
    own, todo = {}, [os.getpid()]
    while todo:
        one = todo.pop()
        if one in processes:
            own[one] = processes[one]
        todo += children.get(one, [])
    return own


def busy_seconds() -> float:
    """Return the CPU seconds of all processes since boot."""
    user, nice, system, _, _, irq, softirq, steal, *_ = map(
        int, (_PROC / "stat").read_text().splitlines()[0].split()[1:]
    )
    return (user + nice + system + irq + softirq + steal) / _TICKS


def peak_memory(process: int | str = "self") -> float:
    """Return the peak resident memory of a process in MiB."""
    lines = (_PROC / str(process) / "status").read_text().splitlines()
    return next((int(x.split()[1]) for x in lines if x.startswith("VmHWM")), 0) / 1024


def peaks_below() -> dict[str, float]:
    """Return the largest peak of the descendants of this process, by program name."""
    peaks: dict[str, float] = {}
    for process in _family().keys() - {os.getpid()}:
        name = (_PROC / str(process) / "comm").read_text().strip()
        peaks[name] = max(peaks.get(name, 0), peak_memory(process))
    return peaks


def table(title: str, rows: list[Row], amount: float, unit: str) -> str:
    """Return a Markdown table; `x` is the speed relative to the first line."""
    lines = [
        f"### {title}",
        "",
        f"| | {unit} a second | x | median s | least s | CPU s | others' cores |",
        "|---|---|---|---|---|---|---|",
    ]
    base = next((row.median for row in rows if row.seconds), 1.0)
    for row in rows:
        if row.failed or not row.seconds:
            lines.append(f"| {row.name} | - | - | - | - | - | {row.failed or 'not run'} |")
            continue
        lines.append(
            f"| {row.name} | {amount / row.median:,.0f} | {base / row.median:.2f} "
            f"| {row.median:.2f} | {min(row.seconds):.2f} | {statistics.median(row.processor):.2f} "
            f"| {statistics.median(row.foreign):.2f} |"
        )
    return "\n".join([*lines, ""])


def surroundings(*libraries: str) -> str:
    """Return the machine and the versions, on one line."""
    versions = [f"{name} {_version(name)}" for name in libraries]
    load = f"load average {os.getloadavg()[0]:.1f}"
    return f"{os.cpu_count()} cores, {load}; Python {platform.python_version()}, " + ", ".join(
        versions
    )


def say(line: str) -> None:
    """Print progress."""
    print(line, file=sys.stderr, flush=True)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(not installed)"
