"""Time from `pip install` to a first verdict on a user-defined class.

    python benchmarks/first_verdict.py [WHEEL]

Creates a new virtual environment, installs the wheel there (by default one built from this tree),
writes a file of five lines, and checks it. Prints every command with its duration in seconds and
its output. Exits with 1 if the total exceeds two minutes, or without a verdict.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
#: Maximum total time in seconds.
MOST = 120.0
#: A user's filesystem class.
FILE = """\
from fsspec.implementations.memory import MemoryFileSystem


class MyStore(MemoryFileSystem):
    protocol, store = "mystore", {}
"""


class Transcript:
    """Commands run in a directory, and their total duration."""

    def __init__(self, place: Path) -> None:
        self._place = place
        scripts = str(place / "venv" / "bin")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}
        self._environment = {**kept, "PATH": os.pathsep.join([scripts, os.environ["PATH"]])}
        self._environment |= {
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_ROOT_USER_ACTION": "ignore",
        }
        self.seconds = 0.0

    def run(self, command: Sequence[str], shown: str = "") -> tuple[int, str]:
        """Run a command, print it as `shown`; return its exit code and output."""
        begun = time.monotonic()
        done = subprocess.run(
            command,
            cwd=self._place,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        took = time.monotonic() - begun
        self.seconds += took
        print(f"$ {shown or ' '.join(command)}    # {took:.1f} s")
        for line in _shown(done.stdout.splitlines()):
            print(line)
        return done.returncode, done.stdout


def _shown(lines: list[str]) -> list[str]:
    """Return the lines; for a report the header, the first violation and the verdict."""
    first = next((n for n, line in enumerate(lines) if line.startswith("FAIL")), None)
    if first is None:
        return lines
    end = lines.index("", first)
    return [lines[0], "...", *lines[first:end], "...", *[line for line in lines if line][-2:]]


def built(place: Path) -> Path:
    """Return a wheel built from this tree."""
    build = ["pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(place), str(ROOT)]
    subprocess.run([sys.executable, "-m", *build], check=True)
    (wheel,) = place.glob("*.whl")
    return wheel


def main(arguments: Sequence[str]) -> int:
    """Run all steps, and print the total time."""
    with TemporaryDirectory() as directory:
        place = Path(directory)
        wheel = Path(arguments[0]).resolve() if arguments else built(place)
        transcript = Transcript(place)
        python = f"Python {platform.python_version()}"
        print(f"# {date.today()}, {python}, {platform.system()}, {os.cpu_count()} cores")
        transcript.run([sys.executable, "-m", "venv", "venv"], "python -m venv venv")
        install = ["venv/bin/pip", "install", "-qq", str(wheel)]
        code, _ = transcript.run(install, f"venv/bin/pip install -qq {wheel.name}")
        if code:
            return 1
        (place / "mystore.py").write_text(FILE, encoding="utf-8")
        transcript.run(["cat", "mystore.py"])
        check = ["venv/bin/fscontract", "check", "./mystore.py:MyStore"]
        code, said = transcript.run(check)
        print(f"# {transcript.seconds:.1f} s in all")
        verdict = code in (0, 1) and "conform" in said
        return 0 if verdict and transcript.seconds <= MOST else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
