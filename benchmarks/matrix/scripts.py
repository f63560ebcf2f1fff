"""Write and run the scripts of all failures of targets of the matrix.

    python -m benchmarks.matrix.scripts [--only NAME] [--effort quick]

Each script must say what came and exit with 1 while the bug is there. It runs without fscontract,
unless the target is code that needs it; options that are credentials are environment variables.
Prints a row of a Markdown table for each target: its failures, the scripts that show one, and the
reasons of failures without a script. Exits with 1 if a script does not show its failure.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from benchmarks.matrix.places import PLACES
from benchmarks.matrix.targets import TARGETS, Target
from fscontract.implementations.bindings.hadoop.targets import embedded_settings
from fscontract.implementations.jvm.jvm import hadoop_jars, s3a_jars
from fscontract.implementations.s3.moto_target import EmbeddedServer, make_bucket

#: Targets whose failures cover the kinds of scripts.
USUAL = (
    *("fsspec local", "fsspec memory", "fsspec tar", "fsspec ftp", "PyArrow local", "PyArrow S3"),
    *("obstore local", "OpenDAL memory", "Hadoop raw"),
)
#: Limits of a check and of a script, in seconds.
_CHECK, _SCRIPT = 900, 120
_MISSING = re.compile(r"^no script for (\S+): (.*)$", re.MULTILINE)
_ROOT = Path(__file__).resolve().parents[2]
#: What a reason says, without its numbers.
_TOO_LONG = re.compile(r"^the (?:script|class) has \d+ lines, (more than \d+)$")
_TOO_MANY = re.compile(r"^the program has \d+ calls, (more than \d+)$")
#: The package of this checkout, which an installed one must not replace, and its tests.
_PATH = os.pathsep.join([str(_ROOT / "src"), str(_ROOT)])
#: Runs the script that is its argument as if fscontract were not installed.
_BARE = (
    "import runpy, sys; sys.modules['fscontract'] = None;"
    "runpy.run_path(sys.argv[1], run_name='__main__')"
)


@dataclass
class Scripts:
    """The scripts of a target: their number, those that do not fail, and the reasons of others."""

    shown: int = 0
    wrong: list[str] = field(default_factory=list)
    missing: Counter[str] = field(default_factory=Counter)

    def row(self, label: str) -> str:
        """Return the row of a target in a table of Markdown."""
        every = self.shown + len(self.wrong) + sum(self.missing.values())
        reasons = Counter[str]()
        for reason, count in self.missing.items():
            short = _TOO_LONG.sub(r"\1 lines", reason)
            reasons[_TOO_MANY.sub(r"\1 calls", short)] += count
        without = "; ".join(f"{count}: {reason}" for reason, count in reasons.most_common())
        return f"| {label} | {every} | {self.shown} | {without} |"


#: Words of scripts that show a failure: the second of a Java thread that raised, the last of a
#: call that hangs.
_SHOWING = ("actual:", "ExecutionException", "ends within")


def scripts_of(target: Target, effort: str = "quick") -> Scripts:
    """Check a target, and run the script of each of its failures."""
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch) / "scripts"
        place = Path(scratch) / "place"
        place.mkdir()
        with PLACES[target.place](place) as provided:
            arguments = target.arguments(provided)
            if "--known" in arguments:
                at = arguments.index("--known")
                del arguments[at : at + 2]
            words = ["-m", "fscontract", "check", *arguments, "--effort", effort]
            done = subprocess.run(
                [sys.executable, *words, "--scripts", str(directory), "-q"],
                capture_output=True,
                text=True,
                cwd=scratch,
                env={**os.environ, "PYTHONPATH": _PATH},
                timeout=_CHECK,
                check=False,
            )
            result = Scripts(missing=Counter(why for _, why in _MISSING.findall(_said(done))))
            environment = environment_of(target, provided)
            is_bare = ":" not in target.target.replace("://", "")
            with _class_path(target, Path(scratch)) as jars:
                ran = [
                    (path, *_run(path, environment, is_bare, jars))
                    for path in sorted(directory.glob("*"))
                ]
            for path, code, said in ran:
                if code == 1 and any(word in said for word in _SHOWING):
                    result.shown += 1
                else:
                    result.wrong.append(f"{path.name} exits with {code}: {said[-200:]}")
        return result


def _said(done: subprocess.CompletedProcess[str]) -> str:
    return f"{done.stdout}\n{done.stderr}"


def environment_of(target: Target, provided: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables from which scripts take a URL and options."""
    url = target.target.format(**provided).rpartition("+")[2]
    options = {name.upper(): value.format(**provided) for name, value in target.options.items()}
    return {**os.environ, "PYTHONPATH": _PATH, "TARGET_URL": url, **options}


@contextmanager
def _class_path(target: Target, scratch: Path) -> Iterator[list[Path]]:
    """Yield the jars of a target of Hadoop; for S3A also a configuration, and start a server."""
    if not target.target.startswith(("hadoop", "s3a")):
        yield []
    elif target.target != "s3a":
        yield [*hadoop_jars()]
    else:
        with EmbeddedServer() as server:
            make_bucket(server.url)
            lines = (
                f"<property><name>{name}</name><value>{value}</value></property>"
                for name, value in embedded_settings(server.url).items()
            )
            text = "\n".join(["<configuration>", *lines, "</configuration>"])
            (scratch / "core-site.xml").write_text(text)
            yield [scratch, *s3a_jars()]


def _run(
    path: Path, environment: Mapping[str, str], is_bare: bool, jars: Sequence[Path]
) -> tuple[int, str]:
    """Run a script, without fscontract if `is_bare`; return its exit code, and what it printed."""
    command = [sys.executable, *(["-c", _BARE] if is_bare else []), str(path)]
    if path.suffix == ".java":
        made = f"-Djava.io.tmpdir={path.parent}"
        command = ["java", made, "-cp", os.pathsep.join(map(str, jars)), str(path)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=_SCRIPT, check=False
        )
    except subprocess.TimeoutExpired:
        return -1, f"no end within {_SCRIPT} s"
    return done.returncode, _said(done)


def main() -> int:
    """Run the scripts of the chosen targets."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.matrix.scripts")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--effort", default="quick", choices=["quick", "normal", "deep"])
    asked = parser.parse_args()
    patterns = asked.only or USUAL
    chosen = [t for t in TARGETS if any(fnmatchcase(t.label, p) for p in patterns)]
    if not chosen:
        raise SystemExit(f"unknown target: {' or '.join(patterns)}")
    wrong = 0
    print("| target | failures | shown by a script | without one |\n|---|---|---|---|", flush=True)
    for target in chosen:
        result = scripts_of(target, asked.effort)
        wrong += len(result.wrong)
        print(result.row(target.label), flush=True)
        for text in result.wrong:
            print(f"{target.label}: wrong: {text}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
