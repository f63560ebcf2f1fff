"""Scripts of failures under faults, of requests and of servers."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.program.program import Program
from fscontract.contract.script.calls import NoScript, Source
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.languages import python_script
from fscontract.contract.spec.profiles import load_profile
from fscontract.contract.targets import resolve_target
from tests.contract.script.formatting import is_formatted
from tests.script_runner import ScriptRunner

_FILES = "tests.fakes.block_files"
_STORE = "tests.contract.script.mutant_filesystems:faulty"
_READ = ["py_read", 2]


def _script(target: str, clause: str, *steps: Any, **changed: Any) -> str:
    """Return the script of steps during which the second request is reset, or what is changed."""
    module, _, name = target.partition("@")
    source = Source(module, {"name": name}) if name else Source(target)
    binding = resolve_target(source.target, dict(source.options))
    fault = {"kind": "reset", "nth": 2, **changed}
    streams = 2 if any(isinstance(step, dict) for step in steps) else 1
    data = {"length": 40, "streams": streams, "faults": [fault], "steps": [*steps]}
    features = load_profile(binding.default_profile).as_observed({}).features
    return python_script(
        binding, source, Failure(clause, Program.from_json(data), features, 4096, {})
    )


def test_file_that_takes_an_error_for_the_end_fails(bare_scripts: ScriptRunner) -> None:
    script = _script(f"{_FILES}:Swallowing", "fault.end", _READ)
    assert is_formatted(script)
    broken = bare_scripts.run(script)
    assert broken.code == 1, broken.output
    assert "actual:    b''" in broken.output


def test_file_that_passes_the_error_on_passes(bare_scripts: ScriptRunner) -> None:
    ran = bare_scripts.run(_script(f"{_FILES}:Blocks", "fault.end", _READ))
    assert ran.code == 0, ran.output
    assert "ConnectionResetError" in ran.output


def test_file_without_faults_reads_its_bytes(bare_scripts: ScriptRunner) -> None:
    script = _script(f"{_FILES}:Swallowing", "fault.end", _READ, nth=9)
    ran = bare_scripts.run(script)
    assert ran.code == 0, ran.output


def test_fault_may_strike_several_requests(bare_scripts: ScriptRunner) -> None:
    script = _script(f"{_FILES}:Swallowing", "fault.end", _READ, nth=2, times=3)
    assert "if len(requests) in range(1, 4):  # reset" in script
    assert bare_scripts.run(script).code == 1


@pytest.mark.parametrize(
    "aimed",
    [{"kind": "delete"}, {"kind": "revoke"}, {"offset": [0, None], "nth": 1}, {"times": "all"}],
    ids=str,
)
def test_faults_of_each_kind_and_aim_fail_wrong_files_and_pass_right_ones(
    aimed: dict[str, Any], bare_scripts: ScriptRunner
) -> None:
    script = _script(f"{_FILES}:Swallowing", "fault.end", _READ, **aimed)
    assert is_formatted(script)
    assert bare_scripts.run(script).code == 1
    assert bare_scripts.run(script.replace("Swallowing", "Blocks")).code == 0


def test_file_that_needs_no_cache_cannot_run(bare_scripts: ScriptRunner) -> None:
    ran = bare_scripts.run(_script("memory://x", "fault.end", _READ))
    assert (ran.code, "can't run" in ran.output) == (2, True)


def test_stream_over_an_injector_fails(own_scripts: ScriptRunner) -> None:
    script = _script(f"{_STORE}@fault.clean-RawError", "fault.clean", ["read_byte"], times=4)
    assert is_formatted(script)
    broken = own_scripts.run(script)
    assert broken.code == 1, broken.output
    right = own_scripts.run(script.replace('fault.clean-RawError")', '")'))
    assert right.code == 0, right.output
    assert "PathIOException" in right.output or "ConnectionReset" in right.output, right.output


@pytest.mark.parametrize(
    ("steps", "changed", "reason"),
    [
        ([_READ, _READ], {}, "a call before the last one may fail"),
        ([["pread", 0, 2, 0, 2]], {}, "not one of a file with one result"),
        ([_READ], {"kind": "short", "amount": 1}, "the fault short needs more than one request"),
        ([_READ], {"attempt": 2}, "the fault reset needs more than one request"),
        ([_READ], {"nth": 1}, "the open fails"),
        ([_READ, {"stream": 1, "call": _READ}], {}, "several streams"),
    ],
)
def test_faults_without_a_script_say_why(
    steps: list[Any], changed: dict[str, Any], reason: str
) -> None:
    with pytest.raises(NoScript, match=reason):
        _script("memory://x", "fault.data", *steps, **changed)


_FSSPEC, _RIGHT = "http://{host}/", "tests.contract.script.mutant_filesystems:client"
#: s3fs, and the options that name its server.
_S3, _S3_OPTIONS = "s3://{bucket}", {name: f"{{{name}}}" for name in ("key", "secret")}
_PREAD, _READ_ONE = ["pread", 0, 1, 0, 1], ["py_read", 1]
#: Kinds of faults that fsspec 2026.9.0 does not notice, and calls that return other bytes.
_WRONG: dict[str, list[Any]] = {
    "ignore-ranges": [_PREAD],
    "shift-ranges": [_READ_ONE],
    "omit-content-range": [["read_fully", 1, 1, 0, 1]],
}
_NOTICED = ("cut-bodies", "slow-down", "refuse-head", "overstate-length")


def _server_script(target: str, kind: str, steps: list[Any], nth: int = 1) -> str:
    options = {"url": "{url}"} if target == _RIGHT else {}
    options = {**_S3_OPTIONS, "endpoint_url": "{url}"} if target == _S3 else options
    binding = resolve_target(target, options, served=True)
    try:
        faults = [{"kind": kind, "nth": nth}]
        data = {"length": 40, "streams": 1, "faults": faults, "steps": steps}
        features = load_profile(binding.default_profile).as_observed({}).features
        failure = Failure(f"server.{kind}", Program.from_json(data), features, 4096, {})
        return python_script(binding, Source(target, options), failure)
    finally:
        binding.dispose()


@pytest.mark.parametrize("kind", _WRONG)
def test_client_that_takes_wrong_bytes_fails(kind: str, bare_scripts: ScriptRunner) -> None:
    script = _server_script(_FSSPEC, kind, _WRONG[kind])
    assert is_formatted(script)
    broken = bare_scripts.run(script)
    assert broken.code == 1, broken.output
    without = script.replace(") == 1:", ") == -1:")
    assert bare_scripts.run(without).code == 0


def test_client_of_s3_gets_its_bytes_from_the_server_of_the_script(
    bare_scripts: ScriptRunner,
) -> None:
    pytest.importorskip("s3fs")
    script = _server_script(_S3, "shift-ranges", [_READ_ONE])
    assert is_formatted(script)
    broken = bare_scripts.run(script)
    assert broken.code == 1, broken.output
    right = bare_scripts.run(script.replace(") == 1:", ") == -1:"))
    assert right.code == 0, right.output


def test_fault_strikes_the_request_of_its_number(bare_scripts: ScriptRunner) -> None:
    ran = bare_scripts.run(_server_script(_FSSPEC, "ignore-ranges", [["read_byte"], _PREAD], nth=2))
    assert ran.code == 1, ran.output


@pytest.mark.parametrize("kind", [*_WRONG, *_NOTICED])
def test_client_that_reads_right_bytes_or_raises_passes(
    kind: str, own_scripts: ScriptRunner
) -> None:
    script = _server_script(_RIGHT, kind, [_READ_ONE])
    assert is_formatted(script)
    ran = own_scripts.run(script)
    assert ran.code == 0, ran.output
    assert "TypeError" not in ran.output
    without = own_scripts.run(script.replace(") == 1:", ") == -1:"))
    assert without.code == 0
    assert "Error" not in without.output


@pytest.mark.parametrize(
    ("kind", "steps", "reason"),
    [
        ("gzip-bodies", [_READ_ONE], "the fault gzip-bodies needs more than a small server"),
        ("shift-ranges", [["read_vectored", [[0, 3]], "heap", "absent"]], "each range"),
    ],
)
def test_server_faults_without_a_script_say_why(kind: str, steps: list[Any], reason: str) -> None:
    with pytest.raises(NoScript, match=reason):
        _server_script(_FSSPEC, kind, steps)


def test_faults_that_neither_a_server_nor_a_cache_has_say_why() -> None:
    target = "pyarrow+file:///tmp"
    faults = [{"kind": "reset", "nth": 1}]
    data = {"length": 40, "streams": 1, "faults": faults, "steps": [_READ_ONE]}
    failure = Failure("fault.data", Program.from_json(data), frozenset(), 4096, {})
    with pytest.raises(NoScript, match="in another way than by one fault of a server"):
        python_script(resolve_target(target, {}), Source(target), failure)
