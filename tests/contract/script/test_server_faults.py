"""Scripts with a server that misbehaves."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.program.program import Program
from fscontract.contract.script.calls import NoScript, Source
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.python import python_script
from fscontract.contract.spec.profiles import load_profile
from fscontract.contract.targets import resolve_target
from tests.contract.script.formatting import is_formatted
from tests.script_runner import ScriptRunner

_FSSPEC, _RIGHT = "http://{host}/", "tests.contract.script.mutant_filesystems:client"
#: s3fs, and the options that name its server.
_S3, _S3_OPTIONS = "s3://{bucket}", {name: f"{{{name}}}" for name in ("key", "secret")}
_PREAD, _READ = ["pread", 0, 1, 0, 1], ["py_read", 1]
#: Kinds of faults that fsspec 2026.9.0 does not notice, and calls that return other bytes.
_WRONG: dict[str, list[Any]] = {
    "ignore-ranges": [_PREAD],
    "shift-ranges": [_READ],
    "omit-content-range": [["read_fully", 1, 1, 0, 1]],
}
_NOTICED = ("cut-bodies", "slow-down", "refuse-head", "overstate-length")


def _script(target: str, kind: str, steps: list[Any], nth: int = 1) -> str:
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
    script = _script(_FSSPEC, kind, _WRONG[kind])
    assert is_formatted(script)
    broken = bare_scripts.run(script)
    assert broken.code == 1, broken.output
    without = script.replace(") == 1:", ") == -1:")
    assert bare_scripts.run(without).code == 0


def test_client_of_s3_gets_its_bytes_from_the_server_of_the_script(
    bare_scripts: ScriptRunner,
) -> None:
    pytest.importorskip("s3fs")
    script = _script(_S3, "shift-ranges", [_READ])
    assert is_formatted(script)
    broken = bare_scripts.run(script)
    assert broken.code == 1, broken.output
    right = bare_scripts.run(script.replace(") == 1:", ") == -1:"))
    assert right.code == 0, right.output


def test_fault_strikes_the_request_of_its_number(bare_scripts: ScriptRunner) -> None:
    ran = bare_scripts.run(_script(_FSSPEC, "ignore-ranges", [["read_byte"], _PREAD], nth=2))
    assert ran.code == 1, ran.output


@pytest.mark.parametrize("kind", [*_WRONG, *_NOTICED])
def test_client_that_reads_right_bytes_or_raises_passes(
    kind: str, own_scripts: ScriptRunner
) -> None:
    script = _script(_RIGHT, kind, [_READ])
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
        ("gzip-bodies", [_READ], "the fault gzip-bodies needs more than a small server"),
        ("shift-ranges", [["read_vectored", [[0, 3]], "heap", "absent"]], "each range"),
    ],
)
def test_faults_without_a_script_say_why(kind: str, steps: list[Any], reason: str) -> None:
    with pytest.raises(NoScript, match=reason):
        _script(_FSSPEC, kind, steps)


def test_faults_that_neither_a_server_nor_a_cache_has_say_why() -> None:
    target = "pyarrow+file:///tmp"
    faults = [{"kind": "reset", "nth": 1}]
    data = {"length": 40, "streams": 1, "faults": faults, "steps": [_READ]}
    failure = Failure("fault.data", Program.from_json(data), frozenset(), 4096, {})
    with pytest.raises(NoScript, match="in another way than by one fault of a server"):
        python_script(resolve_target(target, {}), Source(target), failure)
