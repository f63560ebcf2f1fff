"""Check releases of a library, each against the known failures of the one before.

    python -m benchmarks.releases LIBRARY [--only TARGET] [--since VERSION | --releases A,B]
                                          [--backwards] [--keep DIR]

A line for each target and pair of releases: `fscontract known --write` on the first one, then
`fscontract check --known` on the second, with its verdict, the failures that are new, and the
number of clauses with fixed entries. With `--backwards` the second release is the older one, so
that each fixed bug is a regression. Releases are installed from the package index into DIR,
without dependencies; files of known failures and reports that DIR has are used again.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import Any

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
        *(
            _ONES[f"fsspec {name}"]
            for name in ("zip stored", "zip deflated", "tar", "http", "ftp", "sftp")
        ),
        *(
            Target(f"fsspec cache {cache}", f"{_CLIENTS}:Cached", options={"cache": cache})
            for cache in _CACHES
        ),
        Target("fsspec simplecache of memory", "simplecache::memory://matrix"),
        *(
            _ONES[f"fsspec {name}"]
            for name in (
                "reference",
                *(f"{c} of http" for c in ("simplecache", "filecache", "blockcache")),
            )
        ),
        Target("fsspec arrow", f"{_CLIENTS}:arrow", place="directory", options=_FOLDER),
    ),
    "s3fs": (_ONES["s3fs"], _ONES["s3fs bytes"]),
    "smart_open": (
        Target("smart_open local", f"{_CLIENTS}:opened", "", "directory", _FOLDER),
        _ONES["smart_open S3"],
    ),
    "sshfs": (_ONES["sshfs"],),
    "webdav4": (Target("webdav4", f"{_CLIENTS}:webdav", "", "webdav", {"url": "{webdav}"}),),
    "paramiko": (_ONES["fsspec sftp"],),
    "obstore": (_ONES["obstore local"], _ONES["obstore memory"], _ONES["obstore S3"]),
    "opendal": (_ONES["OpenDAL local"], _ONES["OpenDAL memory"], _ONES["OpenDAL S3"]),
    "pyarrow": (_ONES["PyArrow local"], _ONES["PyArrow S3"]),
}
#: Seconds that a run may take, those of `fscontract known`: a slow machine loses no failure.
_BUDGET = "600"
#: Seconds until a run is ended.
_TIMEOUT = 900


def main() -> int:
    """Check the releases."""
    asked = _arguments()
    targets = [
        target
        for target in LIBRARIES[asked.library]
        if not asked.only or any(fnmatchcase(target.label, glob) for glob in asked.only)
    ]
    asked.keep.mkdir(parents=True, exist_ok=True)
    releases = asked.releases.split(",") if asked.releases else _since(asked.library, asked.since)
    installed = [
        path
        for r in releases
        if (path := installed_release(asked.library, r, asked.keep.resolve()))
    ]
    if asked.backwards:
        installed.reverse()
    for target in targets:
        for first, second in pairwise(installed):
            outcome = _compared(target, first, second)
            print(f"{target.label}: {first.name} -> {second.name}: {outcome}", flush=True)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.releases")
    parser.add_argument("library", choices=sorted(LIBRARIES))
    parser.add_argument("--only", action="append", default=[], metavar="TARGET")
    parser.add_argument("--since", default="2023.1", metavar="VERSION")
    parser.add_argument("--releases", metavar="A,B", help="only these, the oldest first")
    parser.add_argument("--backwards", action="store_true")
    parser.add_argument("--keep", type=Path, default=Path("releases"), metavar="DIR")
    return parser.parse_args()


def _since(library: str, since: str) -> list[str]:
    """Return the final releases of a library from a version on, the oldest first."""
    said = subprocess.run(
        [sys.executable, "-m", "pip", "index", "versions", library],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    line = next(line for line in said.splitlines() if line.startswith("Available versions:"))
    numbers = re.findall(r"\d+(?:\.\d+)+", line)
    return sorted((n for n in numbers if _parts(n) >= _parts(since)), key=_parts)


def _parts(number: str) -> list[int]:
    return [int(part) for part in number.split(".")]


def installed_release(library: str, release: str, keep: Path) -> Path | None:
    """Return the directory below `keep` with a release; None if it can't be installed."""
    made = keep / f"{library}-{release}"
    if not made.exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        command += ["--only-binary", ":all:", "--target", str(made), f"{library}=={release}"]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return None
    return made


def _compared(target: Target, first: Path, second: Path) -> str:
    """Check a release against the known failures of another one; return what came out."""
    known = first / f"{target.slug}.yaml"
    if not known.exists():
        options = ["--write", "--reason", first.name, str(known)]
        done = _run("known", target, first, options)
        if not known.exists():
            return f"no known failures: {_last_line(done)}"
    report = second / f"{target.slug}-after-{first.name}.json"
    if not report.exists():
        options = ["--known", str(known), "--json", str(report), "--budget", _BUDGET]
        done = _run("check", target, second, options)
        report.with_suffix(".txt").write_text(done.stdout + done.stderr, encoding="utf-8")
        if not report.exists():
            return f"no report: {_last_line(done)}"
    data = json.loads(report.read_text(encoding="utf-8"))
    if "error" in data:
        return f"error: {data['error']}"
    new = [*_new_failures(data)]
    fixed = sum(clause["outcome"] == "fixed" for clause in data["clauses"])
    verdict = "conforms" if data["conforms"] else "does not conform"
    words = f"{verdict}: {len(new)} new failures, {fixed} clauses fixed"
    return "\n    ".join([words, *new])


def _new_failures(data: dict[str, Any]) -> Iterator[str]:
    """Yield clause and signature of each failure that is neither known nor lax."""
    for clause in data["clauses"]:
        if clause["outcome"] in ("fail", "crash", "hang"):
            for failure in (clause["counterexample"], *clause.get("others", ())):
                if not failure.get("known"):
                    yield f"{clause['id']}: {failure['signature']}"


def _run(
    command: str, target: Target, installed: Path, options: Sequence[str]
) -> subprocess.CompletedProcess[str]:
    """Run a command of fscontract with this release."""
    with (
        tempfile.TemporaryDirectory(prefix="releases-") as scratch,
        PLACES[target.place](Path(scratch)) as provided,
    ):
        own, *words = target.arguments(provided)
        if "--known" in words:
            words = words[: words.index("--known")]
        program = [sys.executable, "-m", "fscontract", command]
        # The file of known failures stands before the target.
        return subprocess.run(
            [*program, *options, own, *words, "--strict", "inherited"],
            cwd=scratch,
            env={**os.environ, "PYTHONPATH": f"{installed}:{ROOT}:{ROOT / 'src'}", "CI": "true"},
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=False,
        )


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stderr.splitlines() or ["?"])[-1]


if __name__ == "__main__":
    raise SystemExit(main())
