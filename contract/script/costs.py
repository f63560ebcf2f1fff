"""Write a program that costs more than its clause permits as a Python script or a Java class.

They read the counters of the stream and of its filesystem, by Hadoop's names, before and
after the calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from fscontract.contract.api.iostatistics import METERS, OF_STREAMS
from fscontract.contract.api.openfile_options import READ_POLICY
from fscontract.contract.program.content import OF_COSTS, SparseContent, content
from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.program import Step, resolve_step
from fscontract.contract.script.calls import JavaApi, NoScript, ScriptApi, Source
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.frame import EXIT, assembled, set_up
from fscontract.contract.script.java_class import JavaClass, text_literal
from fscontract.contract.script.layout import indented, literal, printed
from fscontract.contract.script.openings import java_builder, java_status
from fscontract.contract.spec.clauses import Cost, clauses

#: What the meters count, for the text of the expected result.
_COUNTED = {
    "probes": "look-ups of the file",
    "opens": "opens",
    "held": "open descriptors or connections",
    "requests": "requests",
    "bytes": "bytes from the store",
    "returned": "bytes counted as returned",
}


def cost_script(api: ScriptApi, source: Source, failure: Failure) -> str:
    """Return the script of a cost; raise NoScript with the reason."""
    cost, opening = clauses()[failure.clause].cost, failure.program.opening
    assert cost is not None
    if not api.builder or opening is None:
        raise NoScript("the API has no counters of requests")
    data = content(cost.length, OF_COSTS)
    if isinstance(data, SparseContent):
        raise NoScript(f"the file has {cost.length:,} bytes")
    sign, allowed = _limit(failure, cost, opening)
    imports = {
        line
        for step in (*(cost.before or ()), *cost.steps)
        if (call := api.spell(step, "f")) is not None
        for line in call.imports
    }
    lines = [
        *set_up(
            [
                *api.setup,
                *sorted(imports),
                *api.write.format("DATA").splitlines(),
                *_measured(api, failure, cost, opening),
            ]
        ),
        *_read_off(cost),
        f"right = 0 <= count {sign} {allowed}",
        *printed(_says(sign, allowed, cost), "{count} {more}"),
        *api.cleanup,
        EXIT,
    ]
    return assembled(failure, [f"DATA = bytes({len(data)})"], lines)


def _measured(api: ScriptApi, failure: Failure, cost: Cost, opening: Opening) -> Iterator[str]:
    """Yield the statements that make the calls, and set the counters `start`, `end` and `known`."""
    telling, subtracted = METERS[cost.meter]
    of_filesystem = [n for n in (*telling, *subtracted) if not n.startswith(OF_STREAMS)]
    yield f'names = "{" ".join((*telling, *subtracted))}".split()'
    end = "dict(f.io_statistics())"
    if of_filesystem:
        first = len(telling) + len(subtracted) - len(of_filesystem)
        chosen = f"names[{first}:]" if first else "names"
        yield ""
        yield "def counters(*streams):"
        yield f"    found = {{n: v for n, v in fs.io_statistics().items() if n in {chosen}}}"
        yield "    return found | {n: v for f in streams for n, v in f.io_statistics().items()}"
        yield ""
        end = "counters(f)"
    if any(name == "with_file_status" for name, *_ in opening.calls):
        yield f"status = {api.status.removesuffix('.length')}"
    yield f"start = {'counters()' if of_filesystem else '{}'}"
    calls = "".join(f".{name}({_given(name, args)})" for name, *args in opening.calls)
    yield f"f = {api.builder}{calls}.build().result()"
    yield from _steps(api, failure, cost.before or ())
    if cost.before and cost.meter != "held":
        yield f"start = {end}"
    yield from _steps(api, failure, cost.steps)
    yield f"end = {end}"
    yield "f.close()"
    if of_filesystem:
        yield api.status
    yield "f = fs.open(path)"
    yield "f.read_byte()  # counters appear once they count"
    yield f"known = end | {end}"


def _given(name: str, args: list[Any]) -> str:
    return "status" if name == "with_file_status" else ", ".join(map(literal, args))


def _limit(failure: Failure, cost: Cost, opening: Opening) -> tuple[str, int]:
    """Return the comparison with the budget of the read policy, and the budget."""
    policy = next((args[-1] for name, *args in opening.calls if args[0] == READ_POLICY), None)
    replaces = "default" in failure.budget
    budget = failure.budget if replaces else {**cost.budget, **failure.budget}
    entry = policy if policy in budget else "default"
    return "==" if cost.exact else "<=", budget[str(entry)]


def _says(sign: str, allowed: int, cost: Cost) -> str:
    """Return the permitted cost as text."""
    return f"{'exactly' if sign == '==' else 'at most'} {allowed} {_COUNTED[cost.meter]}"


def _steps(api: ScriptApi, failure: Failure, steps: tuple[Step, ...]) -> Iterator[str]:
    """Yield calls whose results do not matter, equal ones in a loop; raise NoScript."""
    for step, alike in groupby(steps):
        call = api.spell(resolve_step(step, failure.program.length, failure.buffer), "f")
        if call is None or call.before:
            raise NoScript(f"the API has no single call for {step}")
        inline = call.buffer and not call.ready and "FileRange" not in call.buffer
        lines = [f"buffer = {call.buffer}", *call.ready] if call.buffer and not inline else []
        lines.append(call.expression if inline else call.on_buffer())
        count = len([*alike])
        yield from [f"for _ in range({count}):", *indented(lines)] if count > 1 else lines


def _read_off(cost: Cost) -> Iterator[str]:
    """Yield the statements that compute `count` from the counters before and after the calls."""
    _, subtracted = METERS[cost.meter]
    yield "more = {n: end.get(n, 0) - start.get(n, 0) for n in names if n in known}"
    if subtracted:
        yield "count = more.pop(names[0], -1) - sum(more.values())"
    else:
        yield "count = max(more.values(), default=-1)  # several may count the same"


class CostClass(JavaClass):
    """Calls of a file that a builder opens, which cost too much."""

    def __init__(self, api: JavaApi, failure: Failure) -> None:
        cost, opening = clauses()[failure.clause].cost, failure.program.opening
        assert cost is not None
        if opening is None or api.is_context or api.is_fixed:
            raise NoScript("the filesystem has no counters, or writes no file")
        super().__init__(api, failure, bytes(cost.length))
        self.cost = cost
        self.opening = opening.resolved(cost.length, failure.buffer)
        self.sign, self.allowed = _limit(failure, cost, opening)

    @property
    def needs_data(self) -> bool:
        """False: no byte is compared."""
        return False

    def says(self) -> str:
        """Return the permitted cost as text."""
        return _says(self.sign, self.allowed, self.cost)

    def statements(self) -> Iterator[str]:
        """Yield the statements that make the calls between two readings of the counters."""
        telling, subtracted = METERS[self.cost.meter]
        names = [n for n in telling if not n.startswith(OF_STREAMS)] or telling
        is_of_streams = names == telling and telling[0].startswith(OF_STREAMS)
        yield from self.file()
        yield from java_status(self.opening)
        start = [] if is_of_streams else [*_counters("start", "fs")]
        yield from start or ["Map<String, Long> start = Map.of();"]
        opened = java_builder(self.api, self.opening, self.failure.versions)
        yield f"FSDataInputStream in = {opened}.build().get();"
        yield from self._calls(self.cost.before or ())
        sources = ("in",) if is_of_streams else ("fs", "in")
        if self.cost.before and self.cost.meter != "held":
            yield from (
                line.replace("Map<String, Long> ", "") for line in _counters("start", *sources)
            )
        yield from self._calls(self.cost.steps)
        yield from _counters("end", *sources)
        if len(names) == 1:
            yield f"long actual = {_rise(text_literal(names[0]))};"
        else:
            yield "long actual = 0;"
            yield from _for_each(names, f"actual = Math.max(actual, {_rise('name')});")
        if subtracted:
            yield from _for_each(subtracted, f"actual -= {_rise('name')};")
        yield f"boolean right = actual {self.sign} {self.allowed};"

    def _calls(self, steps: tuple[Step, ...]) -> Iterator[str]:
        """Yield calls whose results do not matter, equal ones in a loop; raise NoScript."""
        for step, alike in groupby(steps):
            call = self.api.spell(resolve_step(step, self.cost.length, self.failure.buffer), "in")
            if call is None:
                raise NoScript(f"the API has no call for {step}")
            count = len([*alike])
            line = f"{call.expression};"
            loop = f"for (int i = 0; i < {count}; i++) {{"
            yield from [loop, f"  {line}", "}"] if count > 1 else [line]


def _counters(variable: str, *sources: str) -> Iterator[str]:
    """Yield the statements that read the counters of these objects in Java."""
    first, *others = (f"IOStatisticsSupport.retrieveIOStatistics({s}).counters()" for s in sources)
    yield f"Map<String, Long> {variable} = new HashMap<>({first});"
    yield from (f"{variable}.putAll({other});" for other in others)


def _rise(name: str) -> str:
    """Return the Java expression of what the counter of a name rose by."""
    return f"end.getOrDefault({name}, 0L) - start.getOrDefault({name}, 0L)"


def _for_each(names: Iterable[str], statement: str) -> Iterator[str]:
    """Yield a Java loop over names of counters."""
    yield f"for (String name : List.of({', '.join(map(text_literal, names))})) {{"
    yield from (f"  {statement}", "}")
