"""Write a program after which descriptors or threads are left as a Python script."""

from __future__ import annotations

from collections.abc import Iterator

from fscontract.contract.program.program import Program, Step, resolve_step
from fscontract.contract.script.calls import NoScript, ScriptApi, Source
from fscontract.contract.script.data import content_lines
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.frame import EXIT, assembled, set_up
from fscontract.contract.script.layout import WIDTH, indented
from fscontract.contract.script.plan import check_conditions

#: The most lines: each call may take one.
MAX_LINES = 60
#: The clause of resources that an open stream holds after unbuffer.
_UNBUFFER = "unbuffer.release"
#: The clauses of what a stream leaves.
RELEASING = frozenset({"close.release", _UNBUFFER})
#: Streams before the count, for which a pool may grow, and counted ones. A leak is one for each.
WARM_UP, COUNTED = 5, 8


def leak_script(api: ScriptApi, source: Source, failure: Failure, data: bytes) -> str:
    """Return the script of a leak from streams of a file with this content; raise NoScript."""
    check_conditions(failure.program)
    if failure.program.streams > 1 or any(s.op in ("change", "reopen") for s in _steps(failure)):
        raise NoScript("several streams are open, or the file changes")
    lines = [
        *set_up([*api.setup, *api.write.format("DATA").splitlines()]),
        *("", "", *_functions(api, failure, len(data)), "", ""),
        *_count(failure),
        *api.cleanup,
        EXIT,
    ]
    return assembled(failure, content_lines((data,), source.content), lines, max_lines=MAX_LINES)


def _steps(failure: Failure) -> tuple[Step, ...]:
    return failure.program.steps


def _functions(api: ScriptApi, failure: Failure, length: int) -> Iterator[str]:
    """Yield the function that uses a stream once, and the one that counts what is held."""
    yield "def once():"
    yield from indented(api.opening(Program(length, _steps(failure)), "f"))
    closes = () if failure.clause == _UNBUFFER else (Step("close"),)
    calls = []
    for step in dict.fromkeys((*_steps(failure), *closes)) if closes else _steps(failure):
        call = api.spell(resolve_step(step, length, failure.buffer), "f")
        if call is None or call.helper or call.before or call.ready:
            raise NoScript(f"the API has no single call for {step}")
        calls.append(f"lambda: {call}")
    yield "    streams.append(f)  # the stream is still referenced"
    loop = f"    for call in ({', '.join(calls)}{',' * (len(calls) == 1)}):"
    several = ["    for call in (", *(f"        {call}," for call in calls), "    ):"]
    yield from [loop] if len(loop) <= WIDTH else several
    yield "        with contextlib.suppress(Exception):"
    yield "            call()"
    yield ""
    yield ""
    yield "def held():"
    yield '    return len(os.listdir("/proc/self/fd")), threading.active_count()'


def _count(failure: Failure) -> Iterator[str]:
    """Yield the statements that compare what is held before and after some streams."""
    what = "streams after unbuffer" if failure.clause == _UNBUFFER else "closed streams"
    yield "streams = []"
    yield f"for _ in range({WARM_UP}):  # a pool may grow at first"
    yield "    once()"
    yield "before = held()"
    yield f"for _ in range({COUNTED}):"
    yield "    once()"
    yield "more = [after - one for one, after in zip(before, held())]"
    yield f"right = max(more) < {COUNTED}"
    yield "print(__doc__)"
    yield f'print("expected:  {COUNTED} {what} hold no descriptor and no thread")'
    yield 'print("actual:   ", more[0], "more descriptors and", more[1], "more threads")'
