"""Write calls of several threads that share a stream, as a Python script or as Java statements.

If the failure has one switch, the script makes the calls of one thread again and again, each time
on a new stream, and pauses them at another line of Python until the other threads have ended. If
the threads ran freely, they start at a barrier, and the script repeats that; so do Java's threads.
Threads that make the same call at other places have one function, and a table of the places. Each
result is compared with those of a serial order of the calls: positioned calls neither move the
stream nor depend on its position. In Python, one thread may make other calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import add
from typing import TypeAlias

from fscontract.contract.models.permitted import Permitted
from fscontract.contract.models.serializability import POSITIONED
from fscontract.contract.program.program import Program, Step, resolve_step
from fscontract.contract.script.calls import Form, JavaApi, NoScript, ScriptApi, Source
from fscontract.contract.script.data import content_lines
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.frame import MAX_LINES, assembled, set_up
from fscontract.contract.script.java_class import MOST_LINES, JavaClass
from fscontract.contract.script.java_sequential import SequentialClass, plain
from fscontract.contract.script.layout import WIDTH, indented, printed
from fscontract.contract.script.plan import Plan, plan_each
from fscontract.contract.script.sequential import SequentialScript
from fscontract.contract.spec.clauses import clauses

#: The most lines more if a thread that makes other calls than another one is paused, and for each
#: thread after the second one: each of them has a function.
_PAUSED, _FURTHER = 2, 4
#: How often free threads repeat calls that do not depend on those before, and the most tries.
_REPEATS, _TRIES = 150, 1000
#: The seconds that a paused thread waits for the others, which may wait for it.
_PAUSE = 0.05
#: Calls that neither move the stream nor depend on its position.
_INDEPENDENT = POSITIONED | {"read_vectored"}
#: The characters by which a name in place of a number may make a line longer.
_SPARE = len("size + 1")
#: A number in a statement.
_NUMBER = re.compile(r"(?<![\w.])\d+(?!\w)")
#: Why calls that only wait for each other have no script.
OVERLAP = "a thread has to be paused in the middle of its call"

#: The calls of a thread, and what each may do.
_Planned: TypeAlias = list[tuple[Step, Permitted]]


def threads_script(api: ScriptApi, source: Source, failure: Failure, data: bytes) -> str:
    """Return the script of threads on a file with this content; raise NoScript with the reason."""
    if "concurrency.overlap" in clauses()[failure.clause].checks:
        raise NoScript(OVERLAP)
    threads = [
        tuple(resolve_step(step, len(data), failure.buffer) for step in steps)
        for steps in failure.threads
    ]
    if sum(not {step.op for step in steps} <= _INDEPENDENT for steps in threads) > 1:
        raise NoScript("several threads move the stream")
    if failure.first_thread is not None:
        threads.insert(0, threads.pop(failure.first_thread))
    script = _Threads(api, failure, data, threads)
    lines = [*script.lines()]
    max_lines = MAX_LINES
    if not script.is_table:
        max_lines += _FURTHER * (len(threads) - 2) + (_PAUSED if script.is_paused else 0)
    made = [*content_lines((data,), source.content), *script.reads]
    return assembled(failure, made, lines, max_lines=max_lines)


class _Threads:
    """The parts of one script."""

    def __init__(
        self, api: ScriptApi, failure: Failure, data: bytes, threads: Sequence[tuple[Step, ...]]
    ) -> None:
        self.api, self.failure, self.data, self.threads = api, failure, data, threads
        self.opened = [*api.opening(Program(len(data), ()), "f")]
        self.is_paused = failure.first_thread is not None
        #: The expression of the tasks of all threads, but the one that is paused.
        self.tasks = ""
        #: The task of the thread that is paused.
        self.first = "pool.submit(thread1)"
        #: The statement of the reads of each thread that has the same function as others.
        self.reads: list[str] = []
        #: Whether all threads have the same function.
        self.is_table = False
        #: Whether threads make their calls again and again on a stream.
        self.repeats = not self.is_paused and all(
            {step.op for step in steps} <= _INDEPENDENT or steps[0].op == "seek"
            for steps in threads
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
            f"with ThreadPoolExecutor({count}, initializer=Barrier({count}).wait) as pool:",
            f"    ended = [task.exception() for task in {self.tasks}]",
        ]
        yield "sys.setswitchinterval(1e-6)  # seconds: the threads alternate often"
        yield f"for _ in range({_TRIES}):"
        yield from indented([*self.opened, *run, "if any(ended):", "    break"])

    def _paused(self) -> Iterator[str]:
        """Yield the loop that pauses the first thread at another line each time."""
        yield f"for number in range(1, {_TRIES + 1}):"
        opened, *more = self.opened
        name, _, opening = opened.partition(" = ")
        yield f"    {name}, lines, others = {opening}, iter([0] * number + [1]), []"
        yield from indented(more)
        yield "    with ThreadPoolExecutor(initializer=sys.settrace, initargs=[pause]) as pool:"
        yield f"        ended = [{self.first}.exception(), *(one.exception() for one in others)]"
        yield "    if any(ended) or not others:"
        yield "        break"

    def _pause(self) -> Iterator[str]:
        """Yield the function that starts the other threads at a line of the first one."""
        yield ""
        yield "def pause(*event):  # is called at each line of Python of the first thread"
        yield "    if next(lines, 0):"
        yield f"        others.extend({self.tasks})"
        yield f"        wait(others, {_PAUSE})"
        yield "    return pause"

    def functions(self) -> Iterator[str]:
        """Yield the functions of the threads, which raise AssertionError for a wrong result.

        Threads whose calls differ in their places alone have one function, with parameters.
        """
        planned = [plan_each(steps, self.failure.features, self.data) for steps in self.threads]
        if self.repeats:
            planned = [_once(calls) for calls in planned]
        first, others = (planned[:1] if self.is_paused else []), planned[int(self.is_paused) :]
        functions: list[tuple[str, list[str]]] = []
        table = self._table(planned)
        self.is_table = table is not None
        if table is None:
            functions += [("thread1()", self._body(calls)) for calls in first]
            table = self._table(others)
        if table is not None:
            body, rows = table
            functions.append(("thread(reads)", body))
            self._submit_each(rows)
        else:
            names = [f"thread{number}" for number in range(1 + len(first), 1 + len(planned))]
            bodies = (self._loop(self._body(calls)) for calls in others)
            functions += zip((f"{name}()" for name in names), bodies, strict=True)
            several = f"[*map(pool.submit, ({', '.join(names)}))]"
            self.tasks = several if len(names) > 1 else f"[pool.submit({names[0]})]"
        if not any(line.lstrip().startswith("assert ") for _, body in functions for line in body):
            raise NoScript("no result of the calls is wrong in any order")
        yield from self._pause() if self.is_paused else ()
        for name, lines in functions:
            yield ""
            yield f"def {name}:"
            yield from indented(lines)
            if self.is_paused and lines is functions[0][1]:
                yield "    sys.settrace(None)"

    def _submit_each(self, rows: list[str]) -> None:
        """Set the expressions of threads that have one function, and the table of their reads."""
        text = f"READS = [{', '.join(rows)}]"
        self.reads = [text] if len(text) <= WIDTH else ["READS = [", *_items(rows), "]"]
        others = "READS"
        if self.is_paused and self.is_table:
            self.first, others = "pool.submit(thread, READS[0])", "READS[1:]"
        self.tasks = f"[pool.submit(thread, reads) for reads in {others}]"

    def _loop(self, lines: list[str]) -> list[str]:
        return [f"for _ in range({_REPEATS}):", *indented(lines)] if self.repeats else lines

    def _body(self, calls: _Planned, spare: int = 0) -> list[str]:
        """Return the statements of the calls of a thread, in lines shorter by `spare`."""
        return [line for step, end in calls for line in self._call(step, end, spare)]

    def _table(self, threads: list[_Planned]) -> tuple[list[str], list[str]] | None:
        """Return a loop over the reads of a thread, and the list of those of each thread.

        None if there is one thread, or if the calls differ in more than their places.
        """
        steps = [step for calls in threads for step, _ in calls]
        texts = ["\n".join(self._body([call], _SPARE)) for calls in threads for call in calls]
        found = _places_of(texts, steps) if len(threads) > 1 else None
        if found is None:
            return None
        words, values = found
        following, used = iter(words), [*values]
        body = _NUMBER.sub(lambda _: next(following), texts[0]).splitlines()
        rows = [", ".join(map(str, row)) for row in zip(*values.values(), strict=True)]
        places = iter([f"({row})" for row in rows] if len(used) > 1 else rows)
        reads = f"reads * {_REPEATS}" if self.repeats else "reads"
        lists = [f"[{', '.join(next(places) for _ in calls)}]" for calls in threads]
        return [f"for {', '.join(used)} in {reads}:", *indented(body)], lists

    def _call(self, step: Step, end: Permitted, spare: int) -> Iterator[str]:
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
        indent = " " * (12 if self.repeats else 8)
        last, conditions = [*script.last()], script.right_conditions()
        if call.buffer and not call.ready and len(last) == 1 and last[0].count("(buffer)") == 1:
            last = [last[0].replace("(buffer)", f"(buffer := {call.buffer})")]
        elif call.buffer:
            yield f"buffer = {call.buffer}"
            yield from call.ready
        if len(conditions) > 1:
            right = [line.removeprefix(indent) for line in script.right(indent)]
            yield from (*last, *right, "assert right, actual")
            return
        condition = conditions[0].removeprefix("not isinstance(actual, Exception) and ")
        if last[-1].startswith("actual = bytes("):
            condition = condition.removeprefix("isinstance(actual, bytes) and ")
        ways = [([*last, f"assert {condition}, actual"])]
        if len(last) == 1 and condition.startswith("actual "):
            inline = last[0].replace("actual = ", "(actual := ", 1) + ")"
            ways.insert(0, [f"assert {condition.replace('actual', inline, 1)}, actual"])
        ways.append([*last, *(f"assert {part}, actual" for part in condition.split(" and "))])
        fitting = (way for way in ways if len(f"{indent}{way[-1]}") + spare <= WIDTH)
        yield from next(fitting, ways[-1])


def _merged(setup: Iterable[str]) -> list[str]:
    """Return statements, in which one sets `fs` and `path` or `directory` if two of them did."""
    *lines, made, path = setup
    if len(lines) > 1 and lines[-1].startswith("fs = ") and made.startswith("directory = "):
        values = lines.pop().removeprefix("fs = "), made.removeprefix("directory = ")
        return [*lines, f"fs, directory = {', '.join(values)}", path]
    both = f"fs, path = {made.removeprefix('fs = ')}, {path.removeprefix('path = ')}"
    short = made.startswith("fs = ") and path.startswith("path = ") and len(both) <= WIDTH - 4
    return [*lines, both] if short else [*lines, made, path]


def _places_of(
    texts: Sequence[str], steps: Sequence[Step]
) -> tuple[list[str], dict[str, list[int]]] | None:
    """Return the words for the numbers in the texts of calls, and the numbers of each name in them.

    None if the texts differ in more than numbers, or these in more than the places of the calls.
    """
    alike = len({_NUMBER.sub("", text) for text in texts}) == 1
    if not alike or not {step.op for step in steps} <= POSITIONED:
        return None
    at, size = [step.args[0] for step in steps], [step.args[-1] for step in steps]
    values = {"at": at, "end": [*map(add, at, size)], "size": size}
    columns = [*zip(*(map(int, _NUMBER.findall(text)) for text in texts), strict=True)]
    words = [_word([*column], values) for column in columns]
    used = {
        name: numbers
        for name, numbers in values.items()
        if any(word.startswith(name) for word in words)
    }
    return None if "" in words or not used else (words, used)


def _word(numbers: list[int], values: Mapping[str, list[int]]) -> str:
    """Return the number if it is the same in all reads, or the expression of it, or ""."""
    if len({*numbers}) == 1:
        return str(numbers[0])
    alike = (name for name, found in values.items() if found == numbers)
    more = [number - 1 for number in numbers] == values["size"]
    return next(alike, "size + 1" if more else "")


def _items(texts: Iterable[str]) -> Iterator[str]:
    yield from (f"    {text}," for text in texts)


def _once(calls: _Planned) -> _Planned:
    """Return the calls that a list repeats, as a thread makes its calls many times."""
    steps = [step for step, _ in calls]
    lengths = (n for n in range(1, len(steps) + 1) if len(steps) % n == 0)
    return next(calls[:n] for n in lengths if steps == steps[:n] * (len(steps) // n))


#: The most lines more for each further thread that makes different calls.
_JAVA_FURTHER = 8
#: The suffix of a number as a long that an int can hold, which Java converts.
_LONG = re.compile(r"\b(\d{1,9})L\b")
#: The most streams on which the threads make their calls.
_JAVA_TRIES = 10_000


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
        if any(not {step.op for step in steps} <= _INDEPENDENT for steps in threads):
            raise NoScript("a thread moves the stream, so the result depends on the order")
        self.threads = [[*dict.fromkeys(steps)] for steps in threads]
        self.texts = [
            ["\n".join(self._judged(step, end)) for step, end in plan_each((*steps,), *self._of)]
            for steps in self.threads
        ]
        steps = [step for steps in self.threads for step in steps]
        self.places = _places_of([text for texts in self.texts for text in texts], steps)
        self.max_lines = MOST_LINES + (
            0 if self.places else _JAVA_FURTHER * (len(self.threads) - 1)
        )

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
        yield f"for (int tries = 0; tries < {_JAVA_TRIES} && actual == null; tries++) {{"
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
        yield from _indented(plain(_NUMBER.sub(word, self.texts[0][0])).splitlines(), 4)
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
