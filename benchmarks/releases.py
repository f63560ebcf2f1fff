"""Check consecutive releases of a library, each against the report of the one before.

    python -m benchmarks.releases LIBRARY [--only TARGET] [--since VERSION] [--keep DIR]

A line for each target and release: the changes since the release before, as `check --baseline`
finds them. Releases are installed from the package index into DIR, without dependencies, and
reports kept there are reused.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from benchmarks.matrix.places import PLACES
from benchmarks.matrix.targets import TARGETS, Target

ROOT = Path(__file__).resolve().parents[1]
_CLIENTS = "benchmarks.matrix.clients"
_CACHES = ("none", "readahead", "bytes", "blockcache", "background", "first", "all", "mmap")
_FOLDER = {"folder": "{directory}"}
_ONES = {target.label: target for target in TARGETS}
#: The targets of each library.
LIBRARIES = {
    "fsspec": (
        *(
            _ONES[f"fsspec {name}"]
            for name in ("local", "dir", "memory", "simplecache", "filecache", "blockcache")
        ),
        *(_ONES[f"fsspec {name}"] for name in ("zip deflated", "tar", "http", "ftp", "sftp")),
        *(
            Target(f"fsspec cache {cache}", f"{_CLIENTS}:Cached", options={"cache": cache})
            for cache in _CACHES
        ),
    ),
    "s3fs": (_ONES["s3fs"],),
    "smart_open": (
        Target("smart_open local", f"{_CLIENTS}:opened", "", "directory", _FOLDER),
        _ONES["smart_open S3"],
    ),
    "sshfs": (_ONES["sshfs"],),
    "paramiko": (_ONES["fsspec sftp"],),
    "obstore": (_ONES["obstore local"], _ONES["obstore memory"], _ONES["obstore S3"]),
    "opendal": (_ONES["OpenDAL local"], _ONES["OpenDAL memory"]),
    "pyarrow": (_ONES["PyArrow local"],),
}
_TIMEOUT = 300


def main() -> int:
    """Check the releases."""
    asked = _arguments()
    releases = list(_releases(asked.library, asked.since))
    targets = [
        target
        for target in LIBRARIES[asked.library]
        if not asked.only or any(fnmatchcase(target.label, glob) for glob in asked.only)
    ]
    asked.keep.mkdir(parents=True, exist_ok=True)
    for target in targets:
        before: Path | None = None
        for release in releases:
            installed = _installed(asked.library, release, asked.keep.resolve())
            if installed is None:
                continue
            report = installed / f"{target.slug}.json"
            outcome = _checked(target, installed, report, before)
            print(f"{target.label}, {release}: {outcome}", flush=True)
            if report.exists():
                before = report
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.releases")
    parser.add_argument("library", choices=sorted(LIBRARIES))
    parser.add_argument("--only", action="append", default=[], metavar="TARGET")
    parser.add_argument("--since", default="2023.1", metavar="VERSION")
    parser.add_argument("--keep", type=Path, default=Path("releases"), metavar="DIR")
    return parser.parse_args()


def _releases(library: str, since: str) -> Iterator[str]:
    """The final releases of a library from a version on, the oldest first."""
    said = subprocess.run(
        [sys.executable, "-m", "pip", "index", "versions", library],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    line = next(line for line in said.splitlines() if line.startswith("Available versions:"))
    numbers = re.findall(r"\d+(?:\.\d+)+", line)
    yield from sorted((n for n in numbers if _parts(n) >= _parts(since)), key=_parts)


def _parts(number: str) -> list[int]:
    return [int(part) for part in number.split(".")]


def _installed(library: str, release: str, keep: Path) -> Path | None:
    """Return the directory with a release; None if it can't be installed on this Python."""
    made = keep / f"{library}-{release}"
    if not made.exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        command += ["--only-binary", ":all:", "--target", str(made), f"{library}=={release}"]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return None
    return made


def _checked(target: Target, installed: Path, report: Path, before: Path | None) -> str:
    """Check a release unless its report exists; return the changes."""
    if report.exists():
        return "from its report"
    with (
        tempfile.TemporaryDirectory(prefix="releases-") as scratch,
        PLACES[target.place](Path(scratch)) as provided,
    ):
        command = [sys.executable, "-m", "fscontract", "check", *target.arguments(provided)]
        if "--known" in command:
            command = command[: command.index("--known")]
        command += ["--strict", "inherited", "--json", str(report)]
        if before is not None:
            baseline = Path(scratch) / "baseline.json"
            baseline.write_text(_with_places(before.read_text(encoding="utf-8"), provided))
            command += ["--baseline", str(baseline)]
        done = subprocess.run(
            command,
            cwd=scratch,
            env={**os.environ, "PYTHONPATH": f"{installed}:{ROOT}:{ROOT / 'src'}", "CI": "true"},
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=False,
        )
    report.with_suffix(".txt").write_text(done.stdout + done.stderr, encoding="utf-8")
    if not report.exists():
        return f"no report: {(done.stderr.splitlines() or ['?'])[-1]}"
    text = report.read_text(encoding="utf-8")
    for key, place in provided.items():
        text = text.replace(place, f"<{key}>")
    report.write_text(text, encoding="utf-8")
    return f"exit code {done.returncode}"


def _with_places(text: str, provided: Mapping[str, str]) -> str:
    """Return a stored report with the places of this run: a target is known by its name."""
    for key, place in provided.items():
        text = text.replace(f"<{key}>", place)
    return text


if __name__ == "__main__":
    raise SystemExit(main())
