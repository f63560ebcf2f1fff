"""Write a program that costs more than its clause permits as a Python script.

The script reads the counters of the stream and of its filesystem, by Hadoop's names, before and
after the calls.
"""

from __future__ import annotations

from collections.abc import Iterator

from fscontract.contract.api.iostatistics import METERS
from fscontract.contract.api.openfile_options import READ_POLICY
from fscontract.contract.program.content import OF_COSTS, SparseContent, content
from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.program import Step, resolve_step
from fscontract.contract.script.calls import NoScript, ScriptApi, Source
from fscontract.contract.script.data import content_lines
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.frame import EXIT, assembled, set_up
from fscontract.contract.script.layout import literal, quoted
from fscontract.contract.spec.clauses import Cost, clauses

#: The most lines.
MAX_LINES = 64
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
    policy = next((args[-1] for name, *args in opening.calls if args[0] == READ_POLICY), None)
    sign, allowed = _limit(failure, cost, policy)
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
                *_opened(api, opening),
                *_steps(api, failure, cost.before or ()),
                *(["start = counters(f)"] if cost.before and cost.meter != "held" else []),
                *_steps(api, failure, cost.steps),
                "end = counters(f)",
                "f.close()",
                *_known(api),
                *_read_off(cost),
            ]
        ),
        f"right = 0 <= count {sign} {allowed}",
        "print(__doc__)",
        f'print("expected: ", "{_words(sign)} {allowed} {_COUNTED[cost.meter]}")',
        'print("actual:   ", count, more)',
        *api.cleanup,
        EXIT,
    ]
    made = content_lines((data,), source.content)
    return assembled(failure, made, lines, tuple(_counters()), MAX_LINES)


def _opened(api: ScriptApi, opening: Opening) -> Iterator[str]:
    """Yield the statements that open the file by its builder, from the first counters on."""
    if any(name == "with_file_status" for name, *_ in opening.calls):
        yield f"status = {api.status.removesuffix('.length')}"
    yield "start = counters()"
    yield f"builder = {api.builder}"
    for name, *args in opening.calls:
        given = "status" if name == "with_file_status" else ", ".join(map(literal, args))
        yield f"builder = builder.{name}({given})"
    yield "f = builder.build().result()"


def _limit(failure: Failure, cost: Cost, policy: object) -> tuple[str, int]:
    """Return the comparison with the budget of a read policy, and the budget."""
    replaces = "default" in failure.budget
    budget = failure.budget if replaces else {**cost.budget, **failure.budget}
    entry = policy if policy in budget else "default"
    return "==" if cost.exact else "<=", budget[str(entry)]


def _words(sign: str) -> str:
    return "exactly" if sign == "==" else "at most"


def _steps(api: ScriptApi, failure: Failure, steps: tuple[Step, ...]) -> Iterator[str]:
    """Yield calls whose results do not matter; raise NoScript."""
    for step in steps:
        call = api.spell(resolve_step(step, failure.program.length, failure.buffer), "f")
        if call is None or call.before:
            raise NoScript(f"the API has no single call for {step}")
        yield from ([f"buffer = {call.buffer}", *call.ready] if call.buffer else ())
        yield call.on_buffer()


def _known(api: ScriptApi) -> Iterator[str]:
    """Yield the statements that set `known`: a counter may be there once it has counted."""
    yield f"{api.status}  # counters appear once they count"
    yield "f = fs.open(path)"
    yield "f.read_byte()"
    yield "known = {**end, **counters(f)}"


def _read_off(cost: Cost) -> Iterator[str]:
    """Yield the statements that compute `count` from the counters before and after the calls."""
    telling, subtracted = METERS[cost.meter]
    names = ", ".join(map(quoted, (*telling, *subtracted)))
    yield f"names = ({names}{',' * (names.count(',') == 0)})"
    yield "more = {n: end.get(n, 0) - start.get(n, 0) for n in names if n in known}"
    if subtracted:
        yield "count = more.pop(names[0], -1) - sum(more.values())"
    else:
        yield "count = max(more.values(), default=-1)  # several may count the same"


def _counters() -> Iterator[str]:
    """Yield the function that returns the counters of the filesystem, and of a stream."""
    yield ""
    yield "def counters(*streams):"
    yield "    found = fs.io_statistics()"
    yield '    shared = ("stream_", "store_io_request")  # of all streams together'
    yield "    found = {n: found[n] for n in found if not n.startswith(shared)}"
    yield "    for stream in streams:"
    yield "        found.update(stream.io_statistics())"
    yield "    return found"
