"""Scripts of files whose status has another length."""

from __future__ import annotations

import pytest

from fscontract.contract.program.program import Program
from fscontract.contract.script.calls import Source
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.python import python_script
from fscontract.contract.targets import resolve_target
from tests.contract.script.formatting import is_formatted
from tests.script_runner import ScriptRunner


def _script(target: str) -> str:
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
    ran = bare_scripts.run(_script(target))
    assert ran.code == 0, ran.output


def test_wrong_length_fails_and_the_right_one_passes(own_scripts: ScriptRunner) -> None:
    script = _script("tests.contract.script.mutant_filesystems:slowly_found")
    assert is_formatted(script)
    broken = own_scripts.run(script)
    assert broken.code == 1, broken.output
    assert "expected:  5\nactual:    6" in broken.output
    right = own_scripts.run(script.replace("slowly_found", "rightly_found"))
    assert right.code == 0, right.output
