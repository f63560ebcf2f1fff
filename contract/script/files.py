"""Write the scripts of the failures of runs to a directory."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from fscontract.contract.runner.result import FAILING, Entry, NotSetUp, Verdict


def write_scripts(directory: Path, entries: Sequence[Entry]) -> tuple[int, list[tuple[str, str]]]:
    """Write a script for each failure that has one.

    Return their number, and each clause with a failure without one, with the reason. Raise OSError.
    """
    directory.mkdir(parents=True, exist_ok=True)
    written, missing = set(), []
    for entry in entries:
        for result in () if isinstance(entry, NotSetUp) else entry.clauses:
            if result.outcome not in FAILING | {Verdict.LAX}:
                continue
            for failure in result.counterexamples:
                if not failure.script:
                    missing.append((result.clause.id, failure.no_script or "it has no program"))
                    continue
                digest = hashlib.sha256(failure.script.encode()).hexdigest()[:12]
                suffix = "py" if failure.script.startswith('"""') else "java"
                path = directory / f"{result.clause.id}-{digest}.{suffix}"
                path.write_text(failure.script, encoding="utf-8")
                written.add(path)
    return len(written), [*dict.fromkeys(missing)]
