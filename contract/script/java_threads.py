"""Write calls of several threads that share a stream of a Java filesystem as Java statements.

The threads start at a barrier, and the class repeats that. Each result is compared with the one
that is right in every order of the calls, so the calls are positioned ones. Threads that make the
same call at other places have one function, and a table of the places.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fscontract.contract.models.permitted import Permitted
from fscontract.contract.program.program import Program, Step, resolve_step
from fscontract.contract.script.calls import Form, JavaApi, NoScript
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.java_class import MOST_LINES, JavaClass
from fscontract.contract.script.java_sequential import SequentialClass, plain
from fscontract.contract.script.plan import Plan, plan_each
from fscontract.contract.script.threads import INDEPENDENT, NUMBER, OVERLAP, places_of
from fscontract.contract.spec.clauses import clauses

#: The most lines more for each further thread that makes different calls.
FURTHER = 8
#: The suffix of a number as a long that an int can hold, which Java converts.
_LONG = re.compile(r"\b(\d{1,9})L\b")
#: The most streams on which the threads make their calls.
TRIES = 10_000


class ThreadsClass(JavaClass):
    """Threads that make positioned calls on one stream at the same time."""

    right = "actual == null"

    def __init__(self, api: JavaApi, failure: Failure, data: bytes) -> None:
        super().__init__(api, failure, data)
        if "concurrency.overlap" in clauses()[failure.clause].checks:
            raise NoScript(OVERLAP)
        threads = [
            tuple(resolve_step(step, len(data), failure.buffer) for step in steps)
            for steps in failure.threads
        ]
        if any(not {step.op for step in steps} <= INDEPENDENT for steps in threads):
            raise NoScript("a thread moves the stream, so the result depends on the order")
        self.threads = [[*dict.fromkeys(steps)] for steps in threads]
        self.texts = [
            ["\n".join(self._judged(step, end)) for step, end in plan_each((*steps,), *self._of)]
            for steps in self.threads
        ]
        steps = [step for steps in self.threads for step in steps]
        self.places = places_of([text for texts in self.texts for text in texts], steps)
        self.max_lines = MOST_LINES + (0 if self.places else FURTHER * (len(self.threads) - 1))

    @property
    def _of(self) -> tuple[frozenset[str], bytes]:
        return self.failure.features, self.data

    def says(self) -> str:
        """Return the permitted outcome as text."""
        return "the results of some order"

    def content(self) -> Iterator[str]:
        """Yield the statements that make bytes, which are compared with the results."""
        yield f"byte[] data = new byte[{len(self.data)}];"
        yield "new Random(1).nextBytes(data);"

    def statements(self) -> Iterator[str]:
        """Yield the statements that run the threads up to the first wrong result."""
        yield from self.preparation()
        yield from self._table()
        yield f"ExecutorService pool = Executors.newFixedThreadPool({len(self.threads)});"
        yield f"CyclicBarrier start = new CyclicBarrier({len(self.threads)});"
        yield "Object actual = null;"
        yield f"for (int tries = 0; tries < {TRIES} && actual == null; tries++) {{"
        yield "  try (FSDataInputStream in = fs.open(path)) {"
        yield from _indented(self._shared() if self.places else self._separate(), 4)
        yield "    for (Future<Object> thread : pool.invokeAll(threads)) thread.get();"
        yield "  } catch (ExecutionException error) {"
        yield "    actual = error.getCause();"
        yield "  }"
        yield "}"
        yield "pool.shutdown();"

    def _table(self) -> Iterator[str]:
        """Yield the statement of the places at which each thread reads."""
        if self.places is None:
            return
        _, values = self.places
        names = {"at": "position", "end": "end", "size": "length"}
        rows = iter(
            [f"{{{', '.join(map(str, row))}}}" for row in zip(*values.values(), strict=True)]
        )
        threads = ", ".join(f"{{{', '.join(next(rows) for _ in steps)}}}" for steps in self.threads)
        comment = f"// by thread: {', '.join(names[name] for name in values)} of each read"
        line = f"int[][][] places = {{{threads}}}; {comment}"
        yield from [line] if len(line) <= 96 else [comment, line.removesuffix(f" {comment}")]

    def _shared(self) -> Iterator[str]:
        """Yield the statements that make the threads, which make the same call at their places."""
        assert self.places is not None
        words, values = self.places
        names = {name: f"at[{index}]" for index, name in enumerate(values)}
        following = iter(words)

        def word(_: object) -> str:
            name, *more = next(following).split(" ")
            return " ".join([names.get(name, name), *more])

        yield "var threads = Arrays.stream(places).<Callable<Object>>map(reads -> () -> {"
        yield "  start.await();"
        yield "  for (int[] at : reads) {"
        yield from _indented(plain(NUMBER.sub(word, self.texts[0][0])).splitlines(), 4)
        yield "  }"
        yield "  return null;"
        yield "}).toList();"

    def _separate(self) -> Iterator[str]:
        """Yield the statements that make the threads, each with its calls."""
        yield "List<Callable<Object>> threads = List.of("
        for number, texts in enumerate(self.texts, 1):
            yield "    () -> {"
            yield "      start.await();"
            for text in map(plain, texts):
                yield from _indented(text.splitlines() if len(texts) == 1 else _block(text), 6)
            yield "      return null;"
            yield f"    }}{',' if number < len(self.texts) else ');'}"

    def _judged(self, step: Step, end: Permitted) -> Iterator[str]:
        """Yield the statements that make a call, the last of which raises for a wrong result."""
        planned = Plan(Program(len(self.data), ()), (self.data,), (), step, (end,))
        made = SequentialClass(self.api, self.failure, planned)
        call, text = made.call, _LONG.sub(r"\1", made.call.on_buffer())
        conditions = [one.removeprefix("!raised && ") for one in made.conditions()]
        if call.form is not Form.FILLED or not call.buffer or len(conditions) > 1:
            raise NoScript("a thread makes other calls than positioned reads of one range")
        kind = "byte[]" if call.buffer.startswith("new byte") else "ByteBuffer"
        yield f"{kind} buffer = {call.buffer};"
        if ".readFully(" in text:
            yield f"{text};"
            text = "Arrays.toString(buffer)"
        else:
            yield f"int n = {text};"
            text = "n"
        condition = re.sub(r"(\(int\) )?\bnumber\b", "n", conditions[0])
        yield f"boolean right = {condition};"
        yield f'if (!right) throw new AssertionError("at " + {step.args[0]} + ": " + {text});'


def _indented(lines: Iterable[str], width: int) -> Iterator[str]:
    yield from (f"{' ' * width}{line}" for line in lines)


def _block(text: str) -> Iterator[str]:
    yield from ("{", *_indented(text.splitlines(), 2), "}")
