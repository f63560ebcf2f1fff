"""Scripts of mutants of each group fail, and pass on right streams."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.program.program import Program
from fscontract.contract.script.calls import Source
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.languages import python_script
from fscontract.fakes.mutants.registry import mutant_named
from tests.script_runner import ScriptRunner

_TARGET = "tests.contract.script.mutant_filesystems:make"
#: A mutant of each group of operations, with a short program that shows it.
_MUTANTS: dict[str, list[Any]] = {
    "seek.pos-SeeksToBlock": [["seek", 3], ["read_byte"]],
    "seek.fail-pos-KeepsNegative": [["seek", -1], ["get_pos"]],
    "close.state-NeverCloses": [["close"], ["read_byte"]],
    "read-byte.advance-ByteTwoSteps": [["read_byte"], ["read_byte"]],
    "read-into.rest-untouched-ClearsRest": [["seek", "len-1"], ["read_into", 4, 0, 4]],
    "skip.advance-SkipsLess": [["skip", 3], ["get_pos"]],
    "pread.count-PreadCountsLength": [["pread", "len-1", 4, 0, 4]],
    "read-fully.data-FullySwaps": [["read_fully", 0, 4, 0, 4]],
    "read-vectored.data-MixesUpRanges": [["read_vectored", [[4, 2], [0, 2]], "heap", "absent"]],
    "bytebuffer.limit-BufferMovesLimit": [["seek", "len-1"], ["read_buffer", 4, 0, 4]],
    "bytebuffer.rest-untouched-BufferClearsFront": [["read_buffer", 4, 2, 4]],
    "open.independent-SharesPosition": [
        ["read_byte"],
        {"stream": 1, "call": ["seek", 3]},
        ["get_pos"],
    ],
    "python.read.advance-FileReadLags": [["py_read", 3], ["py_tell"]],
    "python.readlines.all-LinesLackLast": [["py_readlines", None]],
    "python.readinto.data-IntoReversed": [["py_readinto", "B", 3]],
    "python.readinto.count-IntoCountsBuffer": [["py_read", 2], ["py_readinto", "B", 8]],
    "python.readinto.rest-untouched-IntoPadsLastItem": [["py_readinto", "I", 3]],
    "python.readinto.rest-untouched-IntoResizes": [["py_readinto", "B", 1]],
    "input-stream.same-data-StaleAfterByte": [["skip", 1], ["read_byte"], ["read_into", 2, 0, 2]],
}

#: The lengths of the files of programs that need one other than 9.
_LENGTHS = {
    "python.readinto.rest-untouched-IntoResizes": 0,
    "input-stream.same-data-StaleAfterByte": 3,
}


@pytest.mark.parametrize("name", _MUTANTS)
def test_script_of_a_mutant_fails_and_passes_on_a_right_stream(
    name: str, own_scripts: ScriptRunner
) -> None:
    mutant, steps = mutant_named(name), _MUTANTS[name]
    streams = 1 + max(step["stream"] if isinstance(step, dict) else 0 for step in steps)
    program = Program.from_json(
        {"length": _LENGTHS.get(name, 9), "streams": streams, "steps": steps}
    )
    failure = Failure(mutant.clause, program, mutant.profile().features, 4096, {})
    script = python_script(mutant.binding(), Source(_TARGET, {"name": name}), failure)
    broken = own_scripts.run(script)
    assert broken.code == 1, f"{broken.output}\n{script}"
    right = own_scripts.run(script.replace(f'name="{name}"', 'name=""'))
    assert right.code == 0, f"{right.output}\n{script}"
