"""What the installed distribution promises to others."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import EntryPoint, entry_points, version
from importlib.resources import files
from pathlib import Path

import pytest

import fscontract

ROOT = Path(__file__).resolve().parents[2]
GROUPS = (
    "console_scripts",
    "pytest11",
    "fscontract.bindings",
    "fscontract.commands",
    "fscontract.pipelines",
    "fscontract.targets",
)
OURS = [
    entry
    for group in GROUPS
    for entry in entry_points(group=group)
    if entry.value.startswith("fscontract.")
]


@pytest.mark.parametrize("entry", OURS, ids=lambda e: f"{e.group}:{e.name}")
def test_every_entry_point_loads(entry: EntryPoint) -> None:
    """A name that is offered leads somewhere."""
    assert entry.load() is not None


def test_every_group_has_an_entry() -> None:
    """Else the test above would hold of nothing."""
    assert {entry.group for entry in OURS} == set(GROUPS)


def test_the_version_is_written_in_one_place() -> None:
    """A build takes it from the package, and the changelog has it once it is out."""
    assert fscontract.__version__ == version("fscontract")
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    assert 'dynamic = ["version"]' in text
    assert f'"{fscontract.__version__}"' not in text
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    heads = re.findall(r"^## \[(.+?)\]", changes, re.MULTILINE)
    assert heads[0] in ("Unreleased", fscontract.__version__)


def test_types_and_schemas_are_shipped() -> None:
    """`py.typed` for type checkers, and the schema of the report."""
    assert files("fscontract").joinpath("py.typed").is_file()
    text = files("fscontract.specs").joinpath("report.schema.json").read_text(encoding="utf-8")
    assert json.loads(text)["title"] == "fscontract report"


def test_it_runs_as_a_module() -> None:
    """`python -m fscontract` is the command."""
    done = subprocess.run(
        [sys.executable, "-m", "fscontract", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"fscontract {fscontract.__version__}\n"
