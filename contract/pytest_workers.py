"""Share the runs of a suite between the workers of pytest-xdist.

A suite is run in parts, by the calls that its clauses are about. A worker that needs a clause runs
the part with it, unless another worker does. While it waits, it runs parts that no other one has.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fscontract.contract.runner.result import RunResult
    from fscontract.contract.spec.clauses import Clause

#: How often a worker looks whether another one has finished, in seconds.
_PAUSE = 0.05
_PRIVATE = 0o700


@dataclass(frozen=True)
class Shared:
    """What a worker has of a part: its result, or the reason why there is none."""

    result: RunResult | None = None
    fault: str = ""


class SharedRuns:
    """A folder of results that the workers of one session share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def result_of(
        self, suite: str, part: int, parts: int, run: Callable[[int], RunResult]
    ) -> Shared:
        """Return the result of a part of a suite; `run` runs the part with a number."""
        name = hashlib.sha256(suite.encode()).hexdigest()[:24]
        order = [part, *(number for number in range(parts) if number != part)]
        while True:
            done = self._load(f"{name}-{part}")
            if done is not None:
                return done
            mine = next((n for n in order if self._claim(f"{name}-{n}")), None)
            if mine is None:
                time.sleep(_PAUSE)
            else:
                self._run(f"{name}-{mine}", mine, run, is_needed=mine == part)

    def _run(self, name: str, part: int, run: Callable[[int], RunResult], is_needed: bool) -> None:
        """Run a part and store the result; an error is that of the worker that needs it."""
        from fscontract.contract.isolation.protocol import to_json

        try:
            data = {"result": to_json(run(part))}
        except Exception as error:
            self._store(name, {"fault": f"{type(error).__name__}: {error}"})
            if is_needed:
                raise
        except BaseException:
            self._store(name, {"fault": "the worker that ran the suite was interrupted"})
            raise
        else:
            self._store(name, data)

    def _load(self, name: str) -> Shared | None:
        from fscontract.contract.isolation.protocol import from_json
        from fscontract.contract.runner.result import RunResult
        from fscontract.contract.untrusted import load_json

        path = self._folder / f"{name}.json"
        if not path.exists():
            return None
        data = load_json(path)
        if "fault" in data:
            return Shared(fault=data["fault"])
        return Shared(from_json(RunResult, data["result"]))

    def _store(self, name: str, data: object) -> None:
        part = self._folder / f"{name}.{os.getpid()}.part"
        part.write_text(json.dumps(data), encoding="utf-8")
        os.replace(part, self._folder / f"{name}.json")

    def _claim(self, name: str) -> bool:
        """Return whether this worker runs a part from now on: no other one does, or it died."""
        if (self._folder / f"{name}.json").exists():
            return False
        claims = sorted(self._folder.glob(f"{name}.claim-*"))
        if claims and _is_alive(claims[-1]):
            return False
        try:
            with (self._folder / f"{name}.claim-{len(claims):04}").open("x") as claim:
                claim.write(str(os.getpid()))
        except FileExistsError:
            return False
        return True


def shared_runs(folder: str | None) -> SharedRuns | None:
    """Return the runs shared in a folder, which is made; None if it is another user's."""
    if folder is None:
        return None
    path = Path(folder)
    try:
        path.mkdir(mode=_PRIVATE, exist_ok=True)
        is_own = not hasattr(os, "getuid") or path.lstat().st_uid == os.getuid()
    except OSError:
        return None
    return SharedRuns(path) if is_own and path.is_dir() and not path.is_symlink() else None


def parts_of(clauses: Iterable[Clause]) -> list[tuple[Clause, ...]]:
    """Return the clauses in parts: of Python files, of opens, of threads and ranges, and others.

    The programs of one part are hardly of use for another one.
    """
    parts: dict[str, list[Clause]] = {}
    for clause in clauses:
        parts.setdefault(_part(clause), []).append(clause)
    return [tuple(part) for part in parts.values()]


def part_with(parts: Sequence[Sequence[Clause]], clause: str) -> int:
    """Return the number of the part that has a clause."""
    return next(n for n, part in enumerate(parts) if any(c.id == clause for c in part))


def _part(clause: Clause) -> str:
    kinds = {check.partition(".")[0] for check in clause.checks}
    if kinds & {"concurrency"} or clause.id.startswith("read-vectored."):
        return "threads and ranges"
    return clause.document


def _is_alive(claim: Path) -> bool:
    """Return whether the process that made a claim exists, as far as the system tells it."""
    if os.name == "nt":  # where os.kill ends a process
        return True
    try:
        number = int(claim.read_text() or 0)
    except (OSError, ValueError):
        return True
    try:
        if number:  # otherwise it is about to write it
            os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
