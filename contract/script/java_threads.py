"""Write calls of several threads that share a stream of a Java filesystem as Java statements.

The threads start at a barrier, and the class repeats that. Each result is compared with the one
that is right in every order of the calls, so the calls are positioned ones.
"""

from __future__ import annotations

from collections.abc import Iterator

from fscontract.contract.models.permitted import Permitted
from fscontract.contract.program.program import Program, Step, resolve_step
from fscontract.contract.script.calls import Form, JavaApi, NoScript
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.java_class import JavaClass
from fscontract.contract.script.java_sequential import SequentialClass
from fscontract.contract.script.plan import Plan, plan_each
from fscontract.contract.script.threads import INDEPENDENT, OVERLAP
from fscontract.contract.spec.clauses import clauses

#: The most lines: each thread makes and judges its calls.
MAX_LINES = 60
#: The most streams on which the threads make their calls.
TRIES = 10_000


class ThreadsClass(JavaClass):
    """Threads that make positioned calls on one stream at the same time."""

    max_lines = MAX_LINES

    def __init__(self, api: JavaApi, failure: Failure, data: bytes) -> None:
        super().__init__(api, failure, data)
        if "concurrency.overlap" in clauses()[failure.clause].checks:
            raise NoScript(OVERLAP)
        self.threads = [
            tuple(resolve_step(step, len(data), failure.buffer) for step in steps)
            for steps in failure.threads
        ]
        if any(not {step.op for step in steps} <= INDEPENDENT for steps in self.threads):
            raise NoScript("a thread moves the stream, so the result depends on the order")

    def says(self) -> str:
        """Return the permitted outcome as text."""
        return "the results of the calls one after the other, in any order"

    def content(self) -> Iterator[str]:
        """Yield the statements that make bytes, which are compared with the results."""
        yield f"byte[] data = new byte[{len(self.data)}];"
        yield "new Random(1).nextBytes(data);"

    def statements(self) -> Iterator[str]:
        """Yield the statements that run the threads up to the first wrong result."""
        yield from self.preparation()
        yield f"ExecutorService pool = Executors.newFixedThreadPool({len(self.threads)});"
        yield f"CyclicBarrier start = new CyclicBarrier({len(self.threads)});"
        yield "Object actual = null;"
        yield f"for (int tries = 0; tries < {TRIES} && actual == null; tries++) {{"
        yield "  try (FSDataInputStream in = fs.open(path)) {"
        yield "    List<Callable<Object>> threads = new ArrayList<>();"
        for steps in self.threads:
            yield from (f"    {line}" for line in self._thread(steps))
        yield "    for (Future<Object> thread : pool.invokeAll(threads)) {"
        yield "      actual = thread.get() == null ? actual : thread.get();"
        yield "    }"
        yield "  } catch (ExecutionException error) {"
        yield "    actual = error.getCause();"
        yield "  }"
        yield "}"
        yield "pool.shutdown();"
        yield "boolean right = actual == null;"

    def _thread(self, steps: tuple[Step, ...]) -> Iterator[str]:
        """Yield the statements that add a thread, which returns its first wrong result or null."""
        yield "threads.add(() -> {"
        yield "  start.await();"
        planned = dict(plan_each(steps, self.failure.features, self.data))
        *calls, last = [[*self._judged(step, end)] for step, end in planned.items()]
        for call in calls:
            yield "  {"
            yield from (f"    {line}" for line in call[:-1])
            yield f"    if (!right) {call[-1].replace('right ? null : ', '')}"
            yield "  }"
        yield from (f"  {line}" for line in last)
        yield "});"

    def _judged(self, step: Step, end: Permitted) -> Iterator[str]:
        """Yield the statements that make a call, the last of which returns its wrong result."""
        planned = Plan(Program(len(self.data), ()), (self.data,), (), step, (end,))
        made = SequentialClass(self.api, self.failure, planned)
        call, text = made.call, made.call.on_buffer()
        conditions = [one.removeprefix("!raised && ") for one in made.right()]
        if call.form is not Form.FILLED or not call.buffer or len(conditions) > 1:
            raise NoScript("a thread makes other calls than positioned reads of one range")
        kind = "byte[]" if call.buffer.startswith("new byte") else "ByteBuffer"
        yield f"{kind} buffer = {call.buffer};"
        if ".readFully(" in text:
            yield f"{text};"
            text = "Arrays.toString(buffer)"
        else:
            yield f"int number = {text};"
            text = "number"
        condition = conditions[0].replace("(int) number", "number")
        yield f"boolean right = {condition};"
        yield f'return right ? null : "{made.call}: " + {text};'
