"""Write a program or an open after which descriptors or threads are left, in Python or Java."""

from __future__ import annotations

from collections.abc import Iterator

from fscontract.contract.program.program import Program, Step, resolve_program, resolve_step
from fscontract.contract.script.calls import NoScript, ScriptApi, Source
from fscontract.contract.script.data import content_lines
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.frame import EXIT, assembled, set_up
from fscontract.contract.script.java_class import JavaClass, tolerant
from fscontract.contract.script.layout import indented, printed, statement
from fscontract.contract.script.openings import java_builder, java_status, path_made, scene
from fscontract.contract.script.plan import UNUSUAL_NAME, check_conditions

#: The clause of resources that an open stream holds after unbuffer.
_UNBUFFER = "unbuffer.release"
#: The clauses of what a stream leaves.
RELEASING = frozenset({"close.release", _UNBUFFER})
#: Streams before the count, for which a pool may grow, and counted ones. A leak is one for each.
_WARM_UP, _COUNTED = 5, 8
#: The most calls that each have a line.
_MOST_LINES = 2


def leak_script(
    api: ScriptApi, source: Source, failure: Failure, data: bytes, is_fixed: bool
) -> str:
    """Return the script of a leak from streams of a file with this content; raise NoScript.

    `is_fixed` means that the target has only one file.
    """
    steps, at = failure.program.steps, failure.program.at
    check_conditions(failure.program)
    if at is not None and at.is_file:
        raise NoScript(UNUSUAL_NAME)
    if failure.program.streams > 1 or any(s.op in ("change", "reopen") for s in steps):
        raise NoScript("several streams are open, or the file changes")
    subject = "streams after unbuffer" if failure.clause == _UNBUFFER else "closed streams"
    if at is None:
        made = api.write.format("DATA").splitlines()
    else:
        made, subject = [*path_made(api, at.kind, is_fixed)], "opens of the path"
    lines = [
        *set_up([*api.setup, *made]),
        "streams, held = [], []",
        f"for _ in range({_WARM_UP + _COUNTED}):",
        *indented(_stream(api, failure, len(data))),
        f"more = [b - a for a, b in zip(held[{_WARM_UP - 1}], held[-1])]  # a pool grows first",
        f"right = max(more) < {_COUNTED}",
        *printed(
            f"{_COUNTED} {subject} hold no descriptor and no thread",
            "{more[0]} more descriptors and {more[1]} more threads",
        ),
        *api.cleanup,
        EXIT,
    ]
    return assembled(failure, content_lines((data,), source.content), lines)


def _stream(api: ScriptApi, failure: Failure, length: int) -> Iterator[str]:
    """Yield the statements that use a stream once, and count what is held."""
    steps = failure.program.steps
    opening = [*api.opening(Program(length, steps), "f")]
    opening.append("streams.append(f)  # the stream is still referenced")
    if failure.program.at is None:
        yield from opening
    else:  # the open raises, or a read of the stream does
        yield "with contextlib.suppress(Exception):"
        yield from indented(opening)
    if failure.clause != _UNBUFFER:
        steps = tuple(dict.fromkeys((*steps, Step("close"))))
    calls = []
    for step in steps:
        call = api.spell(resolve_step(step, length, failure.buffer), "f")
        if call is None or call.helper or call.before or call.ready:
            raise NoScript(f"the API has no single call for {step}")
        calls.append(str(call))
    if len(calls) > _MOST_LINES:
        listed = ", ".join(f"lambda: {call}" for call in calls)
        yield from statement(f"calls = ({listed})", "")
        yield "for call in calls:"
        yield "    with contextlib.suppress(Exception):"
        yield "        call()"
    else:
        for text in calls:
            yield "with contextlib.suppress(Exception):"
            yield f"    {text}"
    yield "gc.collect()  # what this releases is not held"
    yield 'held.append((len(os.listdir("/proc/self/fd")), threading.active_count()))'


_HELD = 'new java.io.File("/proc/self/fd").list().length'


class LeakClass(JavaClass):
    """Streams that are opened, used and closed, and the descriptors that they leave."""

    right = f"more < {_COUNTED}"

    def says(self) -> str:
        """Return the permitted outcome as text."""
        return f"fewer than {_COUNTED} more descriptors"

    @property
    def needs_data(self) -> bool:
        """False: only the number of bytes matters."""
        return False

    def statements(self) -> Iterator[str]:
        """Yield the statements that count descriptors before and after some streams."""
        program = resolve_program(self.failure.program, len(self.data), self.failure.buffer)
        if self.failure.clause != "close.release" or program.streams > 1:
            raise NoScript("several streams are open, or one is not closed")
        yield from self.filesystem()
        opened = "fs.open(path)"
        yield from scene(self, program.opening.scene if program.opening else "file")
        if program.opening is not None:
            yield from java_status(program.opening)
            opened = java_builder(self.api, program.opening, self.failure.versions)
            opened += ".build().get()"
        yield "List<Object> streams = new ArrayList<>();"
        yield "int before = 0, more = 0;"
        yield f"for (int i = 0; i <= {_WARM_UP + 3 * _COUNTED}; i++) {{ // a pool may grow at first"
        yield f"  int held = {_HELD};"
        yield f"  if (i <= {_WARM_UP}) before = held;"
        yield "  more = Math.max(more, held - before); // a collector may close some"
        yield f"  try (FSDataInputStream in = {opened}) {{"
        yield "    streams.add(in); // it is still referenced"
        yield from (f"    {line}" for line in self._calls(program))
        yield "  } catch (Exception error) { // an open or a call may raise"
        yield from ("  }", "}")

    @property
    def shown(self) -> str:
        """The expression of the number of descriptors."""
        return "more"

    def _calls(self, program: Program) -> Iterator[str]:
        """Yield the statements of the calls before the stream is closed; raise NoScript."""
        steps = program.steps
        calls = []
        for step in steps[:-1] if steps and steps[-1].op == "close" else steps:
            call = self.api.spell(step, "in")
            if call is None or step.op in ("change", "reopen"):
                raise NoScript(f"the API has no call for {step}")
            calls.append(str(call))
        if len(calls) == 2:
            yield from ("try {", f"  {calls[0]};", "} finally {", f"  {calls[1]};", "}")
        else:
            yield from tolerant(calls) if calls[1:] else (f"{call};" for call in calls)
