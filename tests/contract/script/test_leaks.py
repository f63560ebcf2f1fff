"""Scripts of streams that leave descriptors."""

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

_OWN = "tests.contract.script.mutant_filesystems:"


def _script(
    name: str,
    steps: list[Any],
    clause: str = "close.release",
    streams: int = 1,
    kind: str = "",
) -> str:
    """Return the script of a leak; the name is that of a mutant, or of a function after a colon.

    `kind` is that of an opened path that is not a file.
    """
    function = name.removeprefix(":") if name.startswith(":") else "make"
    options = {"name": name} if function == "make" else {}
    binding = resolve_target(f"{_OWN}{function}", options)
    at = {"at": {"kind": kind}} if kind else {}
    program = Program.from_json({"length": 5, "streams": streams, "steps": steps, **at})
    features = load_profile(binding.default_profile).features
    failure = Failure(clause, program, features, 4096, {})
    return python_script(binding, Source(f"{_OWN}{function}", options), failure)


@pytest.mark.parametrize(
    "name", ["close.release-ClosedByCollector", "close.release-PreadOpensItsOwn"]
)
def test_script_fails_while_closed_streams_hold_descriptors(
    name: str, own_scripts: ScriptRunner
) -> None:
    steps = [["read_byte"], ["pread", 1, 4, 0, 4], ["close"]]
    script = _script(name, steps)
    assert is_formatted(script)
    broken = own_scripts.run(script)
    assert broken.code == 1, broken.output
    right = own_scripts.run(script.replace(f'name="{name}"', 'name=""'))
    assert right.code == 0, right.output


@pytest.mark.parametrize("kind", ["directory", "empty-directory", "below-file"])
def test_script_fails_while_refused_opens_hold_descriptors(
    kind: str, own_scripts: ScriptRunner
) -> None:
    script = _script(":refusing_openly", [], kind=kind)
    assert is_formatted(script)
    assert own_scripts.run(script).code == 1
    right = own_scripts.run(script.replace("refusing_openly", "rightly_found"))
    assert right.code == 0, right.output


def test_pool_that_grows_at_first_passes(own_scripts: ScriptRunner) -> None:
    ran = own_scripts.run(_script(":pooling", [["read_byte"]]))
    assert ran.code == 0, ran.output


def test_descriptors_that_the_collector_closes_are_not_held(own_scripts: ScriptRunner) -> None:
    ran = own_scripts.run(_script(":littering", [["read_byte"]]))
    assert ran.code == 0, ran.output


def test_calls_that_raise_do_not_keep_the_stream_open(own_scripts: ScriptRunner) -> None:
    ran = own_scripts.run(_script("", [["seek", -1], ["read_byte"]]))
    assert ran.code == 0, ran.output


def test_several_streams_have_no_script() -> None:
    with pytest.raises(NoScript, match="several streams are open"):
        _script("", [["read_byte"]], streams=2)
