"""The installed distribution has its entry points, types and schemas."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import entry_points, version
from importlib.resources import files
from pathlib import Path

import fscontract

ROOT = Path(__file__).resolve().parents[2]
GROUPS = (
    "console_scripts",
    "pytest11",
    "fscontract.bindings",
    "fscontract.commands",
    "fscontract.faulty_apis",
    "fscontract.openers",
    "fscontract.pipelines",
    "fscontract.servers",
    "fscontract.targets",
)
OURS = [
    entry
    for group in GROUPS
    for entry in entry_points(group=group)
    if entry.value.startswith("fscontract.")
]


def test_entry_points_load() -> None:
    assert [f"{entry.group}:{entry.name}" for entry in OURS if entry.load() is None] == []


def test_every_entry_point_group_has_an_entry() -> None:
    """The test above would pass without entries."""
    assert {entry.group for entry in OURS} == set(GROUPS)


def test_version_is_written_in_one_place_and_in_the_changelog() -> None:
    assert fscontract.__version__ == version("fscontract")
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    assert 'dynamic = ["version"]' in text
    assert f'"{fscontract.__version__}"' not in text
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    heads = re.findall(r"^## \[(.+?)\]", changes, re.MULTILINE)
    assert heads[0] in ("Unreleased", fscontract.__version__)


def test_py_typed_and_report_schema_are_installed() -> None:
    assert files("fscontract").joinpath("py.typed").is_file()
    text = files("fscontract.specs").joinpath("report.schema.json").read_text(encoding="utf-8")
    assert json.loads(text)["title"] == "fscontract report"


def test_python_dash_m_runs_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fscontract", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"fscontract {fscontract.__version__}\n"
