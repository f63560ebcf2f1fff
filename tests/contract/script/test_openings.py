"""Scripts of opens of unusual paths, and of a file whose status has another length."""

from __future__ import annotations

import pytest

from fscontract.contract.program.program import Program
from fscontract.contract.script.calls import NoScript, Source
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.languages import python_script
from fscontract.contract.spec.profiles import load_profile
from fscontract.contract.targets import resolve_target
from tests.contract.script.formatting import is_formatted
from tests.script_runner import ScriptRunner

_CLAUSES = {
    "missing": "open.missing",
    "directory": "open.directory",
    "empty-directory": "open.directory",
    "below-file": "open.below-file",
    "empty-path": "open.empty-path",
}
_WRONG = "tests.contract.script.mutant_filesystems:slowly_found"


def _script(target: str, kind: str, clause: str) -> str:
    binding = resolve_target(target, {})
    program = Program.from_json({"length": 5, "streams": 1, "steps": [], "at": {"kind": kind}})
    features = load_profile(binding.default_profile).as_observed({}).features
    return python_script(binding, Source(target), Failure(clause, program, features, 4096, {}))


@pytest.mark.parametrize("target", ["file:///tmp", "memory://paths", "pyarrow+file:///tmp"])
@pytest.mark.parametrize("kind", _CLAUSES)
def test_opens_that_raise_pass(kind: str, target: str, bare_scripts: ScriptRunner) -> None:
    ran = bare_scripts.run(_script(target, kind, _CLAUSES[kind]))
    assert ran.code == 0, ran.output


@pytest.mark.parametrize("kind", _CLAUSES)
def test_open_that_returns_fails_and_one_that_raises_passes(
    kind: str, own_scripts: ScriptRunner
) -> None:
    script = _script(_WRONG, kind, _CLAUSES[kind])
    assert is_formatted(script)
    broken = own_scripts.run(script)
    assert broken.code == 1, broken.output
    assert "read: b''" in broken.output
    right = own_scripts.run(script.replace("slowly_found", "rightly_found"))
    assert right.code == 0, right.output


def test_class_of_the_exception_for_a_missing_file_is_compared(bare_scripts: ScriptRunner) -> None:
    script = _script("memory://paths", "missing", "open.missing-class")
    assert bare_scripts.run(script).code == 0
    other = script.replace("f = fs.open(path)", "raise PermissionError")
    assert bare_scripts.run(other).code == 1


def test_path_without_permission_needs_a_local_file() -> None:
    with pytest.raises(NoScript, match="a permission has to be revoked"):
        _script("memory://paths", "unreadable", "open.unreadable")


def _status_script(target: str) -> str:
    failure = Failure("model.len-eq-status", Program(5, ()), frozenset(), 4096, {})
    return python_script(resolve_target(target, {}), Source(target), failure)


@pytest.mark.parametrize(
    "target",
    [
        "file:///tmp",
        "memory://x",
        "pyarrow+file:///tmp",
        "obstore+memory:///",
        "opendal+memory:///",
    ],
)
def test_right_length_passes(target: str, bare_scripts: ScriptRunner) -> None:
    ran = bare_scripts.run(_status_script(target))
    assert ran.code == 0, ran.output


def test_wrong_length_fails_and_the_right_one_passes(own_scripts: ScriptRunner) -> None:
    script = _status_script("tests.contract.script.mutant_filesystems:slowly_found")
    assert is_formatted(script)
    broken = own_scripts.run(script)
    assert broken.code == 1, broken.output
    assert "expected:  5\nactual:    6" in broken.output
    right = own_scripts.run(script.replace("slowly_found", "rightly_found"))
    assert right.code == 0, right.output
