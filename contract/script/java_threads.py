"""Write calls of several threads that share a stream of a Java filesystem as Java statements.

The threads start at a barrier, and the class repeats that. Each result is compared with the one
that is right in every order of the calls, so the calls are positioned ones.
"""

from __future__ import annotations

from collections.abc import Iterator

from fscontract.contract.models.permitted import Permitted
from fscontract.contract.program.program import Program, Step, resolve_step
from fscontract.contract.script.calls import JavaApi, NoScript
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.java_class import JavaClass, text_literal
from fscontract.contract.script.java_sequential import SequentialClass
from fscontract.contract.script.plan import Plan, plan_each
from fscontract.contract.script.threads import INDEPENDENT, OVERLAP, REPEATS, TRIES
from fscontract.contract.spec.clauses import clauses


class ThreadsClass(JavaClass):
    """Threads that make positioned calls on one stream at the same time."""

    max_lines = 84

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

    def statements(self) -> Iterator[str]:
        """Yield the statements that run the threads up to the first wrong result."""
        yield from self.preparation()
        yield "List<Object> wrong = Collections.synchronizedList(new ArrayList<>());"
        yield f"for (int tries = 0; tries < {TRIES} && wrong.isEmpty(); tries++) {{"
        yield f"  CyclicBarrier start = new CyclicBarrier({len(self.threads)});"
        yield "  List<Thread> threads = new ArrayList<>();"
        yield "  try (FSDataInputStream in = fs.open(path)) {"
        for steps in self.threads:
            yield from (f"    {line}" for line in self._thread(steps))
        yield "    for (Thread thread : threads) thread.start();"
        yield "    for (Thread thread : threads) thread.join();"
        yield "  }"
        yield "}"
        yield 'actual = wrong.isEmpty() ? "such results" : wrong.get(0);'
        yield "right = wrong.isEmpty();"

    def _thread(self, steps: tuple[Step, ...]) -> Iterator[str]:
        yield "threads.add(new Thread() {"
        yield "  public void run() {"
        yield "    try { start.await(); } catch (Exception error) { }"
        for step, end in plan_each(steps, self.failure.features, self.data):
            yield f"    for (int i = 0; i < {REPEATS}; i++) {{"
            yield from (f"      {line}" for line in self._judged(step, end))
            yield "    }"
        yield "  }"
        yield "});"

    def _judged(self, step: Step, end: Permitted) -> Iterator[str]:
        """Yield the statements that make a call, and add its result if it is wrong."""
        planned = Plan(Program(len(self.data), ()), (self.data,), (), step, (end,))
        made = SequentialClass(self.api, self.failure, planned)
        yield "Object actual;"
        yield "boolean right;"
        yield from made.judged()
        yield f"if (!right) wrong.add({text_literal(f'{made.call}: ')} + actual);"
