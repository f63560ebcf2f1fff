"""The workflow of docs/how-to/pytest-and-ci.md, step by step as GitHub would run it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.test_examples import BLOCKS
from tests.few_programs import run_few_in_commands
from tests.limits import DEADLOCK

FILES = {b.name: b.text for b in BLOCKS if b.document.name == "pytest-and-ci.md" and b.name}


@pytest.fixture
def workflow() -> dict[str, Any]:
    """The workflow."""
    found: dict[str, Any] = yaml.safe_load(FILES["contract.yaml"])
    return found


def test_the_steps_come_in_their_order(workflow: dict[str, Any]) -> None:
    """The code, a Python, the packages, the check, and its report whatever came of it."""
    (job,) = workflow["jobs"].values()
    steps = [step.get("uses", step.get("run", "")).split()[0] for step in job["steps"]]
    assert [step.split("@")[0] for step in steps] == [
        *("actions/checkout", "actions/setup-python", "pip", "fscontract"),
        "actions/upload-artifact",
    ]
    assert job["steps"][-1]["if"] == "always()"
    assert workflow["permissions"] == {"contents": "read"}


def test_the_check_does_what_the_page_says(
    workflow: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fails by nothing but what is worse, annotates the job, and leaves what is uploaded."""
    run_few_in_commands(monkeypatch)
    (job,) = workflow["jobs"].values()
    (step,) = (s["run"] for s in job["steps"] if s.get("name") == "Check the contract")
    (tmp_path / "notes.py").write_text(FILES["notes.py"])
    only = "--clauses seek"
    made = _step(f"fscontract check notes.py:make {only} --json baseline.json", tmp_path)
    assert made.returncode == 1
    assert "::error file=notes.py,title=seek.negative%3A fail on notes.py%3Amake::" in made.stdout
    done = _step(f"{step.strip()} {only}", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 new, 0 vanished" in done.stdout
    assert "::error" not in done.stdout
    assert (
        "::warning file=notes.py,title=seek.negative%3A fail on notes.py%3Amake%2C as in the base"
        in done.stdout
    )
    text = (tmp_path / "summary.md").read_text()
    assert text.count("## fscontract: notes.py:make") == 2
    assert "## Beside baseline.json" in text
    assert {path.name for path in tmp_path.glob("contract.*")} == {
        *("contract.json", "contract.xml", "contract.html"),
    }


def test_the_hook_names_what_it_looks_after() -> None:
    """It runs when that file changes, and gets no names of files, which would be targets."""
    ((hook,),) = (r["hooks"] for r in yaml.safe_load(FILES[".pre-commit-config.yaml"])["repos"])
    assert hook["files"] == r"^notes\.py$"
    assert hook["pass_filenames"] is False


def _step(command: str, place: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    job = {"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(place / "summary.md")}
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", command],
        cwd=place,
        env={**os.environ, **job, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLOCK,
    )
