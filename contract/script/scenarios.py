"""Write the failure of a part of a pipeline as a script: its scenario, on that part."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from textwrap import wrap
from typing import Any

from fscontract.contract.pipeline_bindings import PipelineBinding
from fscontract.contract.runner.result import ClauseResult, Counterexample
from fscontract.contract.scenarios.blockreader.files import Case
from fscontract.contract.scenarios.scenario import Scenario, ScenarioSet
from fscontract.contract.script.callables import callable_lines
from fscontract.contract.script.calls import NoScript, Source
from fscontract.contract.script.data import bytes_text
from fscontract.contract.script.definitions import Definitions
from fscontract.contract.script.frame import WATCHED
from fscontract.contract.script.layout import WIDTH, harmless, quoted, statement
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.targets import PIPELINES, installed, loaded

#: The variable of the part, and the function that reads a file.
_PART, _READS = "part", "read_file"
#: The size of the blocks in which a file is read, in the expected result.
_SIZE = re.compile(r" in blocks of (\d+): ")
#: Longer files are named by their constants.
_LONG = 200
_PUBLIC = "fscontract.scenarios"


def scripted(
    result: ClauseResult,
    binding: PipelineBinding,
    source: Source,
    kit: ScenarioSet[Any],
    seed: int,
) -> ClauseResult:
    """Return the outcome of a clause with a script for each failure, or why it has none."""

    def with_script(failure: Counterexample) -> Counterexample:
        if not failure.scenario:
            return failure
        try:
            scenario = kit.labelled(failure.scenario, seed)
            text = scenario_script(binding, source, kit, scenario, result.clause.id, failure)
            return replace(failure, script=text)
        except NoScript as error:
            reason = str(error)
        except Exception as error:  # a verdict does not depend on its script
            reason = f"fscontract can't write it: {error!r}"
        return replace(failure, no_script=reason)

    return result.showing([with_script(failure) for failure in result.counterexamples])


def scenario_script(
    binding: PipelineBinding,
    source: Source,
    kit: ScenarioSet[Any],
    scenario: Scenario[Any],
    clause: str,
    failure: Counterexample | None = None,
) -> str:
    """Return the script of a scenario that violates a clause; raise NoScript with the reason.

    With its failure, it has the expected and the actual result, and reads files in blocks of the
    size that shows it.
    """
    size = _SIZE.search(failure.expected[0]) if failure is not None else None
    definitions, harness = Definitions(), _name(kit.harness)
    played = _played(scenario, 0 if size is None else int(size[1]), definitions)
    definitions.imports(_PUBLIC, harness, "play")
    setup = _part_lines(binding, source)
    watched = WATCHED if failure is not None and failure.hangs else ()
    for module in ("faulthandler", "json", "os", "sys"):
        if any(re.search(rf"\b{module}\.", line) for line in (*setup, *watched)):
            definitions.imports(module)
    made = f"{harness}({_PART}, {quoted(scenario.charged)})"
    shown = "" if clause == scenario.charged else f", {quoted(clause)}"
    lines = [
        *_docstring(scenario, clause, failure),
        *definitions.imported,
        *("", *setup[:-1], "", setup[-1]),
        *definitions.lines,
        *("", "", *watched),
        *statement(f"play({played}, {made}{shown})"),
    ]
    return "\n".join(lines) + "\n"


def _name(made_by: Any) -> str:
    return str(made_by.__name__)


def _docstring(
    scenario: Scenario[Any], clause: str, failure: Counterexample | None
) -> Iterator[str]:
    """Yield the clause, the scenario, and the expected and the actual result."""
    entry = clauses()[clause]
    yield from wrap(f'"""{clause}: {harmless(entry.statement)}', WIDTH)
    yield from ("", *wrap(harmless(scenario.description), WIDTH))
    if failure is not None:
        yield from ("", *wrap(f"Expected: {harmless(failure.expected[0])}", WIDTH))
        actual = failure.actual.removesuffix(f"; {scenario.description}")
        yield from wrap(f"Actual: {harmless(actual)}", WIDTH)
    yield '"""'


def _played(scenario: Scenario[Any], size: int, definitions: Definitions) -> str:
    """Add the definitions of a scenario; return the expression of the function that plays it."""
    play: Any = scenario.play
    given: dict[str, Any] = {}
    if isinstance(play, Case):
        definitions.text(_READS, _case_lines(play, size, definitions))
        return _READS
    if isinstance(play, partial):
        play, given = play.func, play.keywords
    definitions.function(play)
    if not given:
        return _name(play)
    definitions.imports("functools", "partial")
    for one in chain.from_iterable(v for v in given.values() if isinstance(v, list)):
        definitions.need(sys.modules[play.__module__], _name(type(one)))
    return f"partial({_name(play)}, {_named_values(given)})"


def _case_lines(case: Case, size: int, definitions: Definitions) -> Iterator[str]:
    """Yield a function that reads a file in blocks; a size of 0 stands for all of the case."""
    definitions.imports(_PUBLIC, "Layout", "split_blocks")
    definitions.imports("contextlib", "closing")
    layout = {name: value for name, value in vars(case.layout).items() if value}
    data = layout.pop("data", b"")
    text = definitions.constant(sys.modules[Case.__module__], data) if len(data) > _LONG else ""
    given = f", {_named_values(layout)}" if layout else ""
    read = "harness.expect_records(layout, blocks, harness.read(reader, *blocks)"
    yield f"def {_READS}(harness):"
    yield from statement(f"layout = Layout({text or bytes_text(data)}{given})", "    ")
    yield "    harness.file(layout.data)"
    if case.shorts:
        yield f"    harness.fs.shorts = {tuple(case.shorts)}  # the most bytes of each read"
    yield f"    for size in {tuple(case.sizes)}:" if not size else f"    size = {size}"
    indent = "        " if not size else "    "
    yield f"{indent}blocks = split_blocks(len(layout.data), size, layout.data_offset)"
    if case.strides > 1:
        stride = f"first::{case.strides}"
        yield f"{indent}blocks = [b for first in range({case.strides}) for b in blocks[{stride}]]"
    made = f"harness.reader({_named_values(case.settings)})"
    yield from statement(f"reader = {made}", indent)
    yield f"{indent}with closing(reader):"
    yield f"{indent}    {read}{f', {quoted(case.clause)}' if case.clause else ''})"


def _named_values(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_value(value)}" for name, value in values.items())


def _value(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bytes):
        return bytes_text(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{quoted(k)}: {_value(v)}" for k, v in value.items()) + "}"
    return repr(value)


def _part_lines(binding: PipelineBinding, source: Source) -> tuple[str, ...]:
    """Return the lines that make the part again; raise NoScript."""
    target, options = source.target, source.options
    entry = installed(PIPELINES).get(target)
    if entry is not None:
        given = {name: str(value) for name, value in options.items()}
        (*lines, made) = callable_lines(entry.value, {}, _PART)
        return (*lines, f"{made[:-1]}{given!r})")
    (*lines, made) = callable_lines(target, options, _PART)
    is_made = loaded(target) is binding
    return (*lines, made.rpartition("(")[0] if is_made else made)
