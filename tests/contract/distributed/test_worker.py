"""The work of a task: a request goes in as JSON, evidence or an error comes out."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fscontract.contract.distributed.worker import request_of, run_shard
from fscontract.contract.runner import runner
from fscontract.contract.spec.profiles import load_profile
from tests.contract.distributed.conftest import options

RUN = options(clauses=("capabilities.unknown",))
PROFILE = load_profile("reference")


def answer(target: str, **more: Any) -> Any:
    """Return what the only task of a run answers."""
    request = request_of(target, RUN, PROFILE)
    part = {"number": 0, "of": 1, "seen": None}
    return json.loads(run_shard(json.dumps({**request, "part": part, "file": None, **more})))


def test_task_returns_what_its_programs_exercised() -> None:
    found = answer("memory")
    assert found["records"] == []
    assert found["exercised"]["capabilities.unknown"] > 0
    assert found["counts"]["programs"] > 0


def test_task_says_on_which_machine_it_ran() -> None:
    assert answer("memory")["where"] == answer("nosuch")["where"] != ""


def test_target_that_can_not_be_made_is_an_error_of_the_target() -> None:
    found = answer("nosuch")
    assert "nosuch" in found["target"]
    assert "fault" not in found


def test_internal_error_comes_with_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "gather", lambda *_: 1 // 0)
    found = answer("memory")
    assert "ZeroDivisionError" in found["fault"]
    assert "Traceback" in found["trace"]


def test_modules_beside_the_run_can_be_imported_during_the_task(tmp_path: Path) -> None:
    (tmp_path / "beside_the_run.py").write_text(
        "from fscontract.implementations.memory import MemoryFileSystem as make\n"
    )
    found = answer("beside_the_run:make", folder=str(tmp_path))
    assert found["exercised"]
    assert str(tmp_path) not in sys.path


def test_request_names_files_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    request = request_of("mine.py:make", replace(RUN, content=Path("copy")), PROFILE)
    assert request["target"] == f"{tmp_path}/mine.py:make"
    assert request["run"]["content"] == f"{tmp_path}/copy"
    assert request["folder"] == os.getcwd()


def test_request_does_not_name_the_master() -> None:
    request = request_of("memory", replace(RUN, spark="spark://secret:7077"), PROFILE)
    assert "secret" not in json.dumps(request)
