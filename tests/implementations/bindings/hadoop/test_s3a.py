"""Tests of S3A on a separate server and in a separate process, with another version of Hadoop."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fscontract.contract.binding import TargetError
from fscontract.contract.targets import resolve_target
from fscontract.implementations.jvm import jvm
from fscontract.implementations.jvm.jvm import hadoop_jars
from tests.limits import DEADLOCK

pytestmark = pytest.mark.s3a

#: Prints outcomes by name.
_PROGRAM = """
import json
from fscontract.contract.program.program import Step
from fscontract.contract.targets import resolve_target

binding = resolve_target("s3a", {"fs.s3a.readahead.range": "1024"})
binding.prepare()
path = binding.create(bytes(range(200)))
stream = binding.open(path)
said = {"versions": binding.versions["hadoop"]}
for op, *args in (
    ("read_byte",),
    ("pread", 150, 2, 0, 2),
    ("seek", 100),
    ("get_pos",),
    ("unbuffer",),
    ("read_byte",),
    ("seek", 201),
    ("close",),
    ("read_byte",),
):
    said.setdefault(op, []).append(str(binding.bind(Step(op, tuple(args)))(stream).kind))
said["position"] = binding.status_length(path)

def heads(kind):
    opener = binding.opener
    builder = opener.open_file(path)
    if kind != "none":
        status = opener.ready(path, ("with_file_status", kind, None))
        builder = opener.call(builder, status)
    before = opener.counters(None).get("action_http_head_request", 0)
    opened = opener.get(opener.build(builder))
    binding.bind(Step("read_byte"))(opened)
    return opener.counters(None).get("action_http_head_request", 0) - before

said["heads"] = [heads("none"), heads("own")]
binding.dispose()
print(json.dumps(said))
"""


def _output(*command: str, cwd: Path, status: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLOCK,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Outcomes of some calls."""
    found: dict[str, Any] = json.loads(
        _output("-c", _PROGRAM, cwd=tmp_path_factory.mktemp("s3a")).splitlines()[-1]
    )
    return found


def test_streams_of_s3a_are_read_through_java(said: dict[str, Any]) -> None:
    """Each call is a stream operation."""
    assert said["read_byte"] == ["returned", "returned", "IO"]
    assert (said["pread"], said["get_pos"], said["unbuffer"]) == (["returned"],) * 3
    assert said["position"] == 200


def test_seek_past_eof_is_not_detected(said: dict[str, Any]) -> None:
    """This is a known failure of the profile."""
    assert said["seek"] == ["returned", "returned"]


def test_a_status_spares_the_head_request(said: dict[str, Any]) -> None:
    """Counted by S3A's statistics."""
    assert said["heads"] == [1, 0]


@pytest.mark.parametrize("options", [{"endpoint": "x"}, {"fs.s4a.endpoint": "x"}])
def test_unknown_s3a_option_is_rejected(options: dict[str, str]) -> None:
    """Before anything is started."""
    with pytest.raises(
        TargetError, match=r"^s3a: unknown option '[\w.]+'; expected bucket or fs\.s3a\.\*"
    ):
        resolve_target("s3a", options)


def test_another_hadoop_in_the_process_error_has_a_hint() -> None:
    """A process has one JVM, with one set of libraries."""
    jvm.start(hadoop_jars(), short_lived=True)
    with pytest.raises(TargetError, match="with other libraries; remove --no-isolate"):
        resolve_target("s3a", {})


def test_the_contract_holds_but_for_the_known_failures(tmp_path: Path) -> None:
    """All clauses, in a process that the run creates."""
    command = ("-m", "fscontract", "check", "s3a", "--isolate", "--json", "s3a.json")
    _output(*command, cwd=tmp_path)
    result = json.loads((tmp_path / "s3a.json").read_text(encoding="utf-8"))
    assert result["conforms"] is True
    assert result["summary"]["known"] == 8
