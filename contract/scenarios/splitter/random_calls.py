"""Random scenarios of splitters: files are written, split and changed, and splitters restarted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from random import Random
from typing import Any, NamedTuple

from fscontract.contract.scenarios.scenario import Scenario
from fscontract.contract.scenarios.splitter.harness import (
    PLENTY,
    WINDOWS,
    SplitterHarness,
    Window,
)

_DIRECTORIES, _NAMES = ("", "a/", "a/b/", "c d/"), ("f", "g", "10", "9", "f.txt")
#: The greatest length of a file in bytes.
_LONGEST = 13
_CLAUSES = ("split.recursive", "split.scan-once", "split.modified-size", "split.cover")


class _Call(NamedTuple):
    """A file to write with a new length; or a window, after a trigger or a new lifetime."""

    name: str
    path: str = ""
    length: int = 0

    def __str__(self) -> str:
        return f"{self.path} of {self.length} bytes" if self.name == "write" else self.name


def random_scenario(rng: Random) -> Scenario[SplitterHarness]:
    """Return a scenario whose settings and calls are random."""
    settings = {
        "block_size": rng.randint(1, 6),
        "blocks_threshold": rng.choice((1, 2, 3, 5, PLENTY)),
        "data_offset": rng.choice((0, 0, 0, 1, 4)),
        "windows": rng.choice((None, WINDOWS)),
    }
    paths = [f"{directory}{name}" for directory in _DIRECTORIES for name in _NAMES]
    chosen = rng.sample(paths, rng.randint(1, 5))
    # each version of a file has a length that it has not had, so that it can be told from others
    lengths = {path: rng.sample(range(_LONGEST + 1), _LONGEST + 1) for path in chosen}
    calls = [_Call("write", path, lengths[path].pop()) for path in chosen[:-1]]
    for _ in range(rng.randint(2, 8)):
        name = rng.choice(("write", "window", "window", "trigger", "restart"))
        path = rng.choice(chosen) if name == "write" else ""
        calls.append(_Call(name, path, lengths[path].pop() if path else 0))
    description = "Random files are written, found, split and changed; the splitter is restarted."
    detail = ", ".join([f"{name} {value}" for name, value in settings.items()] + [*map(str, calls)])
    play = partial(_play, settings=settings, calls=calls)
    return Scenario("random", _CLAUSES, "split.cover", play, description, detail)


def _play(harness: SplitterHarness, settings: dict[str, Any], calls: Sequence[_Call]) -> None:
    life = harness.finding(**settings)
    windows: list[Window] = []
    final: dict[str, int] = {}
    number = 1
    for call in calls:
        if call.name == "write":
            final[harness.write(call.path, call.length)] = call.length
            continue
        if call.name == "restart":
            life = life.again(life.life.checkpoint())
        if call.name == "trigger":
            life.life.trigger()
        windows.append(life.window(number))
        number += 1
    windows += life.drain(number)
    life.life.trigger()
    windows += life.drain(number + PLENTY)
    _judge(harness, windows, final)


def _judge(harness: SplitterHarness, windows: Sequence[Window], final: dict[str, int]) -> None:
    """Judge that the last version of each file is found, and each version once."""
    found: dict[str, list[int]] = {}
    for window in windows:
        for file in window.files:
            if not file.is_directory:
                found.setdefault(file.file_path, []).append(file.file_length)
    missing = sorted(final.keys() - found.keys())
    harness.expect(missing, [], "files not found", clause="split.recursive")
    again = sorted(path for path, each in found.items() if len({*each}) < len(each))
    harness.expect(again, [], "versions found again", clause="split.scan-once")
    old = sorted(path for path, length in final.items() if found.get(path, [length])[-1] != length)
    harness.expect(old, [], "files whose last version is not found", clause="split.modified-size")
