"""The same mutants under fsspec's own `fsspec.tests.abstract`, for comparison.

    python benchmarks/mutants_under_fsspec.py [--every N] [PATTERN...]

Each mutant becomes the stream of an fsspec filesystem, on which pytest runs fsspec's suites for
copy, get, put, open and pipe (through this file). A mutant is killed if a test fails. `--every 10`
selects every tenth mutant: these suites take some seconds per mutant.
"""

# mypy: disable-error-code="misc"
# fsspec has no types, so each class here has a base that mypy knows nothing of.

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from fnmatch import fnmatchcase

import pytest
from fsspec.tests import abstract

from fscontract.fakes.mutants.registry import Mutant, mutant_named, mutants
from fscontract.implementations.fsspec_adapter import MemoryFsspec

_NAME = "FSCONTRACT_BENCHMARK_MUTANT"
#: Documents whose mutants are streams and filesystems.
_DOCUMENTS = ("fsdatainputstream", "python-file", "openfile")


class Fixtures(abstract.AbstractFixtures):
    """An fsspec filesystem whose streams are the mutant named in the environment."""

    @pytest.fixture
    def fs(self) -> MemoryFsspec:
        """The filesystem under test."""
        return MemoryFsspec(fs=mutant_named(os.environ[_NAME]).binding().filesystem)

    @pytest.fixture
    def fs_path(self) -> str:
        """Working directory of the suites."""
        return "/tests"


class TestCopy(abstract.AbstractCopyTests, Fixtures):
    """fsspec's copy tests."""


class TestGet(abstract.AbstractGetTests, Fixtures):
    """fsspec's download tests."""


class TestPut(abstract.AbstractPutTests, Fixtures):
    """fsspec's upload tests."""


class TestOpen(abstract.AbstractOpenTests, Fixtures):
    """fsspec's open tests."""


class TestPipe(abstract.AbstractPipeTests, Fixtures):
    """fsspec's tests of writing bytes."""


def killed(mutated: Mutant) -> bool:
    """Return True if fsspec's suites fail on the mutant."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", __file__]
    environment = {**os.environ, _NAME: str(mutated)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"pytest ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.returncode == 1


def main() -> None:
    """Print a row for each mutant, and the number of killed ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1, metavar="N")
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    options = parser.parse_args()
    patterns = options.patterns or ["*"]
    chosen = [m for m in mutants(*_DOCUMENTS) if any(fnmatchcase(str(m), p) for p in patterns)]
    chosen = chosen[:: options.every]
    count = 0
    for mutated in chosen:
        start = time.perf_counter()
        dead = killed(mutated)
        count += dead
        verdict = "killed" if dead else "SURVIVES"
        print(f"{mutated!s:52} {verdict:8} {time.perf_counter() - start:6.1f} s", flush=True)
    print(f"\n{count} of {len(chosen)} mutants killed by fsspec.tests.abstract")


if __name__ == "__main__":
    main()
