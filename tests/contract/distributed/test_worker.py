"""The work of a task: a request goes in as JSON, evidence or an error comes out."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from fscontract.contract.distributed.backend import Work
from fscontract.contract.distributed.worker import request_of, run_shard
from fscontract.contract.runner import runner
from fscontract.contract.spec.profiles import load_profile
from tests.contract.distributed.conftest import Here, MakeBench, options

Answer: TypeAlias = Callable[..., Any]
RUN = options(clauses=("capabilities.unknown",))
PROFILE = load_profile("reference")


class Recording(Here):
    """A backend that keeps the requests of its tasks."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[str] = []

    def submit(self, work: Work, request: str, description: str) -> Future[str]:
        """Keep the request, and run the task."""
        self.requests.append(request)
        return super().submit(work, request, description)


@pytest.fixture
def answer(bench: MakeBench) -> Answer:
    """Return a function that runs the first task of a run again, with changes of its request."""
    backend = Recording()
    bench(clauses=("capabilities.unknown",)).parts(1, backend)
    request = json.loads(backend.requests[0])
    return lambda **changes: json.loads(run_shard(json.dumps({**request, **changes})))


def test_task_returns_what_its_programs_exercised(answer: Answer) -> None:
    found = answer()
    assert found["records"] == []
    assert found["exercised"]["capabilities.unknown"] > 0
    assert found["counts"]["programs"] > 0


def test_task_says_on_which_machine_it_ran(answer: Answer) -> None:
    assert answer()["where"] == answer(target="nosuch")["where"] == socket.gethostname()


def test_target_that_can_not_be_made_is_an_error_of_the_target(answer: Answer) -> None:
    found = answer(target="nosuch")
    assert "nosuch" in found["target"]
    assert "fault" not in found


def test_internal_error_comes_with_its_traceback(
    answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "gather", lambda *_: 1 // 0)
    found = answer()
    assert "ZeroDivisionError" in found["fault"]
    assert "Traceback" in found["trace"]


def test_modules_beside_the_run_can_be_imported_during_the_task(
    answer: Answer, tmp_path: Path
) -> None:
    (tmp_path / "beside_the_run.py").write_text(
        "from fscontract.implementations.memory import MemoryFileSystem as make\n"
    )
    found = answer(target="beside_the_run:make", folder=str(tmp_path))
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
