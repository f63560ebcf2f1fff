"""Write calls of several threads that share a stream as a Python script.

If the failure has one switch, the script makes the calls of one thread again and again, each time
on a new stream, and pauses them at another line of Python until the other threads have ended. If
the threads ran freely, they start at a barrier, and a script repeats that. Each result is compared
with those of a serial order of the calls: positioned calls neither move the stream nor depend on
its position, and only one thread makes other calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fscontract.contract.models.permitted import Permitted
from fscontract.contract.models.serializability import POSITIONED
from fscontract.contract.program.program import Program, Step, resolve_step
from fscontract.contract.script.calls import Form, NoScript, ScriptApi, Source
from fscontract.contract.script.data import content_lines
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.frame import EXIT, assembled, set_up
from fscontract.contract.script.layout import WIDTH, indented, quoted
from fscontract.contract.script.plan import Plan, plan_each
from fscontract.contract.script.sequential import SequentialScript
from fscontract.contract.spec.clauses import clauses

#: The most lines: each thread is a function.
MAX_LINES = 84
#: The most tries of a script, the seconds that a paused thread waits for each other one, and those
#: after which the threads hang.
TRIES, PAUSE, PATIENCE = 1000, 0.05, 60
#: How often free threads repeat calls that do not depend on those before.
REPEATS = 50
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
    written = _Threads(api, failure, data, threads)
    run = written.free if failure.first_thread is None else written.paused
    lines = [*written.preparation(), "", "", *written.functions(), *run(), *_end(api)]
    return assembled(failure, content_lines((data,), source.content), lines, max_lines=MAX_LINES)


class _Threads:
    """The parts of one script."""

    def __init__(
        self, api: ScriptApi, failure: Failure, data: bytes, threads: Sequence[tuple[Step, ...]]
    ) -> None:
        self.api, self.failure, self.data, self.threads = api, failure, data, threads

    def preparation(self) -> Iterator[str]:
        """Yield the block that writes the file."""
        write = self.api.write.format("DATA").splitlines()
        yield from set_up([*self.api.setup, *write])

    def functions(self) -> Iterator[str]:
        """Yield a generator for each thread, which yields its calls; raise NoScript."""
        judged = False
        for number, steps in enumerate(self.threads, 1):
            lines = [
                line
                for step, end in plan_each(steps, self.failure.features, self.data)
                for line in self._call(step, end)
            ]
            if any(line.lstrip().startswith("yield ") for line in lines):
                judged = True
            else:
                lines[-1] = f"yield {quoted(lines[-1])}, {lines[-1]}, True"
            yield f"def thread{number}():"
            yield from (line if line.startswith(" ") else f"    {line}" for line in lines)
            yield from ("", "")
        if not judged:
            raise NoScript("no result of the calls is wrong in any order")

    def _call(self, step: Step, end: Permitted) -> Iterator[str]:
        """Yield the statements of a call, the last of which yields its text, result and verdict."""
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
        yield from script.last()
        right = [*script.right("    ")]
        short = f"    yield {quoted(str(call))}, actual, {right[0].partition(' = ')[2]}"
        if len(right) == 1 and len(short) <= WIDTH:
            yield short
            return
        yield from right
        yield f"yield {quoted(str(call))}, actual, right"

    @property
    def _repeats(self) -> int:
        """The number of times each thread makes its calls: 1 if a position matters."""
        absolute = (
            {step.op for step in steps} <= INDEPENDENT or steps[0].op == "seek"
            for steps in self.threads
        )
        return REPEATS if all(absolute) else 1

    def free(self) -> Iterator[str]:
        """Yield the loop that starts all threads at a barrier."""
        yield from _running(["start.wait()"], self._repeats)
        yield "sys.setswitchinterval(1e-6)  # seconds: the threads alternate often"
        yield from self._loop()
        yield f"    start = threading.Barrier({len(self.threads)})"
        yield from self._threads("threads", 1)
        yield "    for thread in threads:"
        yield "        thread.start()"
        yield "    for thread in threads:"
        yield "        thread.join()"
        yield "    if wrong:"
        yield "        break"

    def paused(self) -> Iterator[str]:
        """Yield the loop that pauses the first thread at another line each time."""
        yield from _running([], 1)
        yield "def pause(*event):"
        yield "    global lines"
        yield "    lines += 1"
        yield "    for thread in others if lines == tries else ():"
        yield "        thread.start()"
        yield f"        thread.join({PAUSE})"
        yield "    return pause"
        yield from ("", "")
        yield from self._loop()
        yield from self._threads("lines, others", 2)
        yield "    sys.settrace(pause)  # is called at each line of Python"
        yield "    run(thread1)"
        yield "    sys.settrace(None)"
        yield "    for thread in others if lines >= tries else ():"
        yield "        thread.join()"
        yield "    if wrong or lines < tries:"
        yield "        break"

    def _loop(self) -> Iterator[str]:
        """Yield the start of the loop, up to the stream that the threads share."""
        yield "wrong = []"
        yield f"for tries in range(1, {TRIES + 1}):"
        yield f"    faulthandler.dump_traceback_later({PATIENCE}, exit=True)  # if calls hang"
        yield from indented(self.api.opening(Program(len(self.data), ()), "f"))

    def _threads(self, name: str, first: int) -> Iterator[str]:
        """Yield the statement that makes the threads from this number on."""
        names = [f"thread{number}" for number in range(first, len(self.threads) + 1)]
        listed = f"({', '.join(names)}{',' * (len(names) == 1)})"
        if name != "threads":
            yield "    lines = 0"
        made = "threading.Thread(target=run, args=(one,), daemon=True)"
        yield from _listed(f"    {name.rpartition(' ')[2]} = [", made, f"for one in {listed}")


def _listed(start: str, made: str, loop: str) -> list[str]:
    """Return the statement of a list as formatters lay it out."""
    whole = f"{start}{made} {loop}]"
    if len(whole) <= WIDTH:
        return [whole]
    inner = f"        {made} {loop}"
    return [
        start,
        *([inner] if len(inner) <= WIDTH else [f"        {made}", f"        {loop}"]),
        "    ]",
    ]


def _running(first: list[str], repeats: int) -> Iterator[str]:
    """Yield the function that makes the calls of a thread."""
    extend = "wrong.extend(one[:2] for one in thread() if not one[2])"
    yield "def run(thread):"
    yield from indented(first)
    yield "    try:"
    if repeats > 1:
        yield f"        for _ in range({repeats}):"
        yield f"            {extend}"
    else:
        yield f"        {extend}"
    yield "    except Exception as error:"
    yield "        wrong.append((thread.__name__, error))"
    yield from ("", "")


def _end(api: ScriptApi) -> Iterator[str]:
    yield "faulthandler.cancel_dump_traceback_later()"
    yield "print(__doc__)"
    yield 'print("expected:  the results of the calls one after the other, in any order")'
    yield 'print("actual:   ", *wrong or ["such results"], f"in {tries} tries")'
    yield from api.cleanup
    yield EXIT.replace("0 if right else 1", "1 if wrong else 0")
