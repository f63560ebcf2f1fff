"""Write calls of several threads that share a stream as a Python script.

If the failure has one switch, the script makes the calls of one thread again and again, each time
on a new stream, and pauses them at another line of Python until the other threads have ended. If
the threads ran freely, they start at a barrier, and a script repeats that. Each result is compared
with those of a serial order of the calls: positioned calls neither move the stream nor depend on
its position, and only one thread makes other calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fscontract.contract.models.permitted import Permitted
from fscontract.contract.models.serializability import POSITIONED
from fscontract.contract.program.program import Program, Step, resolve_step
from fscontract.contract.script.calls import Form, NoScript, ScriptApi, Source
from fscontract.contract.script.data import content_lines
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.frame import assembled, set_up
from fscontract.contract.script.layout import WIDTH, indented, printed
from fscontract.contract.script.plan import Plan, plan_each
from fscontract.contract.script.sequential import SequentialScript
from fscontract.contract.spec.clauses import clauses

#: The most lines with two threads, and those more for each further thread. Each thread is a
#: function, and so is the pause between them.
MAX_LINES, FURTHER = 44, 4
#: How often free threads repeat calls that do not depend on those before, and the most tries.
REPEATS, TRIES = 150, 1000
#: The seconds that a paused thread waits for the others, which may wait for it.
PAUSE = 0.05
#: Calls that neither move the stream nor depend on its position.
INDEPENDENT = POSITIONED | {"read_vectored"}
#: Why calls that only wait for each other have no script.
OVERLAP = "a thread has to be paused in the middle of its call"


def threads_script(api: ScriptApi, source: Source, failure: Failure, data: bytes) -> str:
    """Return the script of threads on a file with this content; raise NoScript with the reason."""
    if "concurrency.overlap" in clauses()[failure.clause].checks:
        raise NoScript(OVERLAP)
    threads = [
        tuple(resolve_step(step, len(data), failure.buffer) for step in steps)
        for steps in failure.threads
    ]
    if sum(not {step.op for step in steps} <= INDEPENDENT for steps in threads) > 1:
        raise NoScript("several threads move the stream")
    if failure.first_thread is not None:
        threads.insert(0, threads.pop(failure.first_thread))
    lines = [*_Threads(api, failure, data, threads).lines()]
    max_lines = MAX_LINES + FURTHER * (len(threads) - 2)
    return assembled(failure, content_lines((data,), source.content), lines, max_lines=max_lines)


class _Threads:
    """The parts of one script."""

    def __init__(
        self, api: ScriptApi, failure: Failure, data: bytes, threads: Sequence[tuple[Step, ...]]
    ) -> None:
        self.api, self.failure, self.data, self.threads = api, failure, data, threads
        self.names = [f"thread{number}" for number in range(1, len(threads) + 1)]
        self.opened = [*api.opening(Program(len(data), ()), "f")]
        self.is_paused = failure.first_thread is not None
        #: Whether threads make their calls again and again on a stream.
        self.repeats = not self.is_paused and all(
            {step.op for step in steps} <= INDEPENDENT or steps[0].op == "seek" for steps in threads
        )

    def lines(self) -> Iterator[str]:
        """Yield the statements of the script; raise NoScript."""
        made = [*_merged(self.api.setup), *self.api.write.format("DATA").splitlines()]
        yield from set_up([*made, *self.functions()])
        yield from self._paused() if self.is_paused else self._free()
        yield from printed("no exception in any thread", "{ended!r:.200}")
        yield "raise SystemExit(1 if any(ended) else 0)  # 1: the bug is there, 2: this can't run"

    def _free(self) -> Iterator[str]:
        """Yield the statements that start all threads at a barrier."""
        count = len(self.threads)
        run = [
            f"with ThreadPoolExecutor({count}) as pool:",
            f"    futures = [pool.submit(thread) for thread in ({', '.join(self.names)})]",
            "ended = [future.exception() for future in futures]",
        ]
        yield f"start = Barrier({count})"
        yield "sys.setswitchinterval(1e-6)  # seconds: the threads alternate often"
        yield f"for _ in range({TRIES}):"
        yield from indented([*self.opened, *run, "if any(ended):", "    break"])

    def _paused(self) -> Iterator[str]:
        """Yield the loop that pauses the first thread at another line each time."""
        yield f"for number in range(1, {TRIES + 1}):"
        opened, *more = self.opened
        name, _, opening = opened.partition(" = ")
        yield f"    {name}, lines, others = {opening}, iter([0] * number + [1]), []"
        yield from indented(more)
        yield "    with ThreadPoolExecutor(initializer=sys.settrace, initargs=[pause]) as pool:"
        ended = "[pool.submit(thread1).exception(), *(one.exception() for one in others)]"
        yield f"        ended = {ended}"
        yield "    if any(ended) or not others:"
        yield "        break"

    def _pause(self) -> Iterator[str]:
        """Yield the function that starts the other threads at a line of the first one."""
        submitted = ", ".join(f"pool.submit({name})" for name in self.names[1:])
        yield ""
        yield "def pause(*event):  # is called at each line of Python of the first thread"
        yield "    if next(lines, 0):"
        yield f"        others.extend([{submitted}])"
        yield f"        wait(others, {PAUSE})"
        yield "    return pause"

    def functions(self) -> Iterator[str]:
        """Yield a function for each thread, which raises AssertionError for a wrong result."""
        judged = False
        yield from self._pause() if self.is_paused else ()
        for number, steps in enumerate(self.threads, 1):
            planned = plan_each(steps, self.failure.features, self.data)
            if self.repeats:
                planned = _once(planned)
            lines = [line for step, end in planned for line in self._call(number, step, end)]
            judged = judged or any(line.startswith("assert ") for line in lines)
            yield ""
            yield f"def thread{number}():"
            if self.is_paused and number == 1:
                yield from indented([*lines, "sys.settrace(None)"])
                continue
            yield from () if self.is_paused else ["    start.wait()"]
            if self.repeats:
                yield f"    for _ in range({REPEATS}):"
                yield from indented(indented(lines))
            else:
                yield from indented(lines)
        if not judged:
            raise NoScript("no result of the calls is wrong in any order")

    def _call(self, number: int, step: Step, end: Permitted) -> Iterator[str]:
        """Yield the statements of a call and of the assertion of its result."""
        if end.kinds:
            raise NoScript("a call of a thread may raise an exception")
        program = Program(len(self.data), ())
        script = SequentialScript(
            self.api, Source(""), self.failure, Plan(program, (self.data,), (), step, (end,))
        )
        call = script.call
        assert call is not None
        # The position is open during positioned calls of others (F14).
        if step.op == "get_pos" or call.form is Form.NOTHING:
            yield str(call)
            return
        if call.buffer:
            yield f"buffer = {call.buffer}"
            yield from call.ready
        indent = " " * (12 if self.repeats else 8)
        last = [*script.last()]
        right = [line.removeprefix(indent) for line in script.right(indent)]
        condition = right[0].partition(" = ")[2]
        ways: list[tuple[list[str], str]] = []
        if len(last) == len(right) == 1 and condition.startswith("actual "):
            inline = last[0].replace("actual = ", "(actual := ", 1) + ")"
            ways.append(([], condition.replace("actual", inline, 1)))
        if len(right) == 1:
            ways.append((last, condition))
        for before, text in ways:
            for message in (f'("thread{number}", actual)', "actual"):
                line = f"assert {text}, {message}"
                if len(indent) + len(line) <= WIDTH:
                    yield from (*before, line)
                    return
        yield from (*last, *right, "assert right, actual")


def _merged(setup: Iterable[str]) -> list[str]:
    """Return statements, in which one sets `fs` and `path` if two of them did."""
    *lines, made, path = setup
    both = f"fs, path = {made.removeprefix('fs = ')}, {path.removeprefix('path = ')}"
    short = made.startswith("fs = ") and path.startswith("path = ") and len(both) <= WIDTH - 4
    return [*lines, both] if short else [*lines, made, path]


def _once(calls: list[tuple[Step, Permitted]]) -> list[tuple[Step, Permitted]]:
    """Return the calls that a list repeats, as a thread makes its calls many times."""
    steps = [step for step, _ in calls]
    lengths = (n for n in range(1, len(steps) + 1) if len(steps) % n == 0)
    return next(calls[:n] for n in lengths if steps == steps[:n] * (len(steps) // n))
