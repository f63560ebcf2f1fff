"""Check of every target in `targets.py`, each in a separate process; writes docs/matrix.md.

    python -m benchmarks.matrix [--only NAME] [--effort quick] [--jobs 2] [--reports DIR]
                                [--markdown docs/matrix.md] [--html FILE] [--write-known]

Exits with 1 if a target does not conform: a clause fails that its file of known failures does not
list, or a listed one passes. `--write-known` rewrites these files; `--reports` keeps the JSON
reports in a directory, and reuses existing ones.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

from benchmarks.matrix.explained import FINDINGS, write
from benchmarks.matrix.places import PLACES
from benchmarks.matrix.targets import TARGETS, Target

ROOT = Path(__file__).resolve().parents[2]
#: Timeout of one target's check in seconds.
_PATIENCE = 1800


def main() -> int:
    """Run the campaign."""
    asked = _arguments()
    chosen = [
        t for t in TARGETS if not asked.only or any(fnmatchcase(t.label, p) for p in asked.only)
    ]
    if not chosen:
        raise SystemExit(f"unknown target: {' or '.join(asked.only)}")
    with _reports(asked.reports) as reports:
        with ThreadPoolExecutor(asked.jobs) as pool:
            lines = pool.map(
                lambda t: _checked(t, reports, asked.effort, asked.write_known), chosen
            )
            for number, line in enumerate(lines, 1):
                print(f"[{number}/{len(chosen)}] {line}", flush=True)
        made = [(t, reports / f"{t.slug}.json") for t in chosen]
        if asked.write_known:
            _write_known(made)
            return 0
        failed = [t.label for t, report in made if not _conforms(report)]
        code = _join([(t, report) for t, report in made if report.exists()], asked)
    for label in failed:
        print(f"does not conform: {label}", file=sys.stderr)
    return code or int(bool(failed))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.matrix")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--effort", default="quick", choices=["quick", "normal", "deep"])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--reports", type=Path)
    parser.add_argument("--markdown", type=Path, default=ROOT / "docs" / "matrix.md")
    parser.add_argument("--html", type=Path)
    parser.add_argument("--write-known", action="store_true")
    return parser.parse_args()


@contextmanager
def _reports(given: Path | None) -> Iterator[Path]:
    if given is not None:
        given.mkdir(parents=True, exist_ok=True)
        yield given.resolve()
        return
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


def _checked(target: Target, reports: Path, effort: str, bare: bool) -> str:
    """Check a target unless its report exists; return the outcome."""
    report, start = reports / f"{target.slug}.json", time.monotonic()
    if report.exists():
        return f"{target.label}: {_outcome(report)}, from {report.name}"
    with tempfile.TemporaryDirectory(prefix="matrix-") as scratch:
        said = _run(target, Path(scratch), report, effort, bare)
    outcome = _outcome(report) if report.exists() else f"no report: {said}"
    return f"{target.label}: {outcome}, {time.monotonic() - start:.0f} s"


def _run(target: Target, scratch: Path, report: Path, effort: str, bare: bool) -> str:
    with PLACES[target.place](scratch) as provided:
        arguments = target.arguments(provided)
        if bare and "--known" in arguments:
            arguments = arguments[: arguments.index("--known")]
        command = [sys.executable, "-m", "fscontract", "check", *arguments]
        try:
            done = subprocess.run(
                [*command, "--effort", effort, "--json", str(report)],
                cwd=scratch,
                env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}", "CI": "true"},
                capture_output=True,
                text=True,
                timeout=_PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"still running after {_PATIENCE} s"
    if report.exists():
        _anonymise(report, scratch, provided)
    return (done.stderr.splitlines() or [f"exit code {done.returncode}"])[-1]


def _anonymise(report: Path, scratch: Path, provided: Mapping[str, str]) -> None:
    """Replace random names, so that two reports differ only in their results."""
    text = report.read_text(encoding="utf-8").replace(str(scratch), "/d")
    for key, word in _WORDS.items():
        if key in provided:
            text = text.replace(provided[key], word)
    report.write_text(text, encoding="utf-8")


#: Replacements of random names in reports.
_WORDS = {
    "web": "http://host/d/",
    "ftp host": "host",
    "url": "http://server",
    "bucket": "bucket",
}


def _outcome(report: Path) -> str:
    data = json.loads(report.read_text(encoding="utf-8"))
    if "error" in data:
        return str(data["error"])
    counts = ", ".join(f"{n} {word}" for word, n in data["summary"].items() if n)
    return f"{'conforms' if data['conforms'] else 'DOES NOT CONFORM'} ({counts})"


def _conforms(report: Path) -> bool:
    return report.exists() and bool(json.loads(report.read_text(encoding="utf-8"))["conforms"])


def _write_known(made: Sequence[tuple[Target, Path]]) -> None:
    for target, report in made:
        if report.exists():
            for clause in write(target, report):
                print(f"without a finding: {target.label}: {clause}")


def _join(made: Sequence[tuple[Target, Path]], asked: argparse.Namespace) -> int:
    command = [sys.executable, "-m", "fscontract", "matrix", "--findings", str(FINDINGS)]
    command += ["--title", "Conformance matrix", "--markdown", str(asked.markdown)]
    if asked.html is not None:
        command += ["--html", str(asked.html)]
    command += [f"{target.label}={report}" for target, report in made]
    return subprocess.run([*command, "--strict"], check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
