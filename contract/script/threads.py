"""Write calls of threads that share a stream or a file, as a Python script or as Java statements.

If the failure has one switch, the script makes the calls of one thread again and again, each time
on a new stream, and pauses them at another line of Python until the other threads have ended. If
the threads ran freely, they start at a barrier, and the script repeats that. In Java, each read is
a task of a pool.
Threads that make the same call at other places have one function, and a table of the places. Each
result is compared with those of a serial order of the calls: positioned calls neither move the
stream nor depend on its position. In Python, one thread may make other calls, and threads may each
open a stream.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import add
from typing import TypeAlias

from fscontract.contract.models.permitted import Permitted
from fscontract.contract.models.serializability import POSITIONED
from fscontract.contract.program.program import Program, Step, resolve_step
from fscontract.contract.script.calls import Form, JavaApi, NoScript, ScriptApi, Source
from fscontract.contract.script.data import content_lines
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.frame import assembled, set_up
from fscontract.contract.script.java_class import JavaClass
from fscontract.contract.script.layout import WIDTH, indented, printed
from fscontract.contract.script.plan import Plan, plan_each
from fscontract.contract.script.sequential import SequentialScript, with_imports
from fscontract.contract.spec.clauses import clauses

#: How often free threads repeat calls that do not depend on those before, and the most tries.
_REPEATS, _TRIES = 150, 1000
#: The seconds that a paused thread waits for the others, which may wait for it.
_PAUSE = 0.05
#: Calls that neither move the stream nor depend on its position.
_INDEPENDENT = POSITIONED | {"read_vectored"}
#: The characters by which a name in place of a number may make a line longer.
_SPARE = len("size + 1")
#: The buffer as an argument, and the start of a condition that says what the result is.
_BUFFER = re.compile(r"(?<=[( ])buffer(?=[,)])")
_KIND = re.compile(r"^(not isinstance\(actual, Exception\)|type\(actual\) is int) and ")
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
    moving = sum(not {step.op for step in steps} <= _INDEPENDENT for steps in threads)
    if moving > 1 and not failure.apart:
        raise NoScript("several threads move the stream")
    if failure.first_thread is not None:
        threads.insert(0, threads.pop(failure.first_thread))
    script = _Threads(api, failure, data, threads)
    lines = [*script.lines()]
    made = [*content_lines((data,), source.content), *script.reads]
    return assembled(failure, made, lines)


class _Threads:
    """The parts of one script."""

    def __init__(
        self, api: ScriptApi, failure: Failure, data: bytes, threads: Sequence[tuple[Step, ...]]
    ) -> None:
        self.api, self.failure, self.data, self.threads = api, failure, data, threads
        opened = [*api.opening(Program(len(data), ()), "f")]
        #: The statements that open the stream of all threads, and those that open that of each.
        self.opened, self.open_each = ([], opened) if failure.apart else (opened, [])
        self.is_paused = failure.first_thread is not None
        #: The expression of the tasks of all threads, but the one that is paused.
        self.tasks = ""
        #: The task of the thread that is paused.
        self.first = "pool.submit(thread1)"
        #: The statement of the reads of each thread that has the same function as others.
        self.reads: list[str] = []
        #: The imports that calls need.
        self.imports: set[str] = set()
        #: Whether all threads have the same function.
        self.is_table = False
        #: Whether threads make their calls again and again on a stream.
        self.repeats = not self.is_paused and all(
            {step.op for step in steps} <= _INDEPENDENT or steps[0].op == "seek"
            for steps in threads
        )

    def lines(self) -> Iterator[str]:
        """Yield the statements of the script; raise NoScript."""
        functions = [*self.functions()]
        imports = sorted(self.imports)
        setup = [with_imports(line, imports) for line in self.api.setup]
        made = [*imports, *_merged(setup), *self.api.write.format("DATA").splitlines()]
        yield from set_up([*made, *functions])
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
        opened, *more = self.opened or [""]
        name, _, opening = opened.partition(" = ")
        names, values = (f"{name}, ", f"{opening}, ") if opened else ("", "")
        yield f"    {names}lines, others = {values}iter([0] * number + [1]), set()"
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
        yield f"        others.update(*wait({self.tasks}, {_PAUSE}))"
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
            functions += [("thread1()", [*self.open_each, *self._body(calls)]) for calls in first]
            table = self._table(others)
        if table is not None:
            body, rows = table
            functions.append(("thread(reads)", body))
            self._submit_each(rows)
        else:
            names = [f"thread{number}" for number in range(1 + len(first), 1 + len(planned))]
            bodies = ([*self.open_each, *self._loop(self._body(calls))] for calls in others)
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

        None if there is one thread, if the calls differ in more than their places, or if each
        thread opens a stream.
        """
        if self.open_each:
            return None
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
        self.imports.update(call.imports)
        # The position is open during positioned calls of others (F14).
        if step.op == "get_pos" or call.form is Form.NOTHING:
            yield str(call)
            return
        indent = " " * (12 if self.repeats else 8)
        # An exception of a range fails, whether it is returned or raised.
        last = [line.replace(', on_error="return"', "") for line in script.last()]
        conditions = script.right_conditions()
        if call.buffer:
            walrus, count = _BUFFER.subn(f"buffer := {call.buffer}", last[0])
            if count == 1 and not call.ready and len(f"{indent}{walrus}") + spare <= WIDTH:
                last[0] = walrus
            else:
                yield f"buffer = {call.buffer}"
                yield from call.ready
        if len(conditions) > 1:
            right = [line.removeprefix(indent) for line in script.right(indent)]
            yield from (*last, *right, "assert right, actual")
            return
        condition = _KIND.sub("", conditions[0])
        if last[-1].startswith("actual = bytes("):
            condition = condition.removeprefix("isinstance(actual, bytes) and ")
        ways = [([*last, f"assert {condition}, actual"])]
        if last[-1].startswith("actual = ") and condition.startswith("actual "):
            inline = last[-1].replace("actual = ", "(actual := ", 1) + ")"
            text = f"assert {condition.replace('actual', inline, 1)}, actual"
            ways.insert(0, [*last[:-1], text])
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


#: The most streams on which the threads make their calls.
_JAVA_TRIES = 10_000
#: The calls of the threads of a class.
_JAVA_READS = {"pread", "read_fully"}
#: The start, the length, and whether readFully makes the read, in a row of all arguments.
_COLUMNS = "at[2]", "at[3]", "at[4]"
#: The characters of the bytes of a small file.
_TEXT = string.digits + string.ascii_letters


class ThreadsClass(JavaClass):
    """Threads that make positioned reads of arrays on one stream at the same time.

    Each read is a row of a table, and a task of a pool that has a thread for each of them.
    """

    test = "@org.junit.jupiter.api.Test"  # the only name of JUnit, so it needs no import

    def __init__(self, api: JavaApi, failure: Failure, data: bytes) -> None:
        super().__init__(api, failure, data)
        if "concurrency.overlap" in clauses()[failure.clause].checks:
            raise NoScript(OVERLAP)
        threads = [
            tuple(resolve_step(step, len(data), failure.buffer) for step in steps)
            for steps in failure.threads
        ]
        if failure.apart:
            raise NoScript("each thread has a stream")
        if any(not {step.op for step in steps} <= _INDEPENDENT for steps in threads):
            raise NoScript("a thread moves the stream, so the result depends on the order")
        self.reads = [step for steps in threads for step in dict.fromkeys(steps)]
        planned = plan_each((*self.reads,), failure.features, data)
        if any(step.op not in _JAVA_READS or not end.counts or end.kinds for step, end in planned):
            raise NoScript("a thread makes other calls than positioned reads of one range")
        self._is_mixed = len({step.op for step in self.reads}) > 1
        self._arguments = [step.args for step in self.reads]

    def says(self) -> str:
        """Return the permitted outcome as text."""
        return "the results of some order"

    def content(self) -> Iterator[str]:
        """Yield the statements that make bytes, which are compared with the results."""
        if len(self.data) <= len(_TEXT):
            yield f'byte[] data = "{_TEXT[: len(self.data)]}".getBytes();'
            return
        yield f"byte[] data = new byte[{len(self.data)}];"
        yield "new Random(1).nextBytes(data);"

    @property
    def _is_plain(self) -> bool:
        """True if each read fills its buffer, so that a position and a length are enough."""
        return all(size == count and not start for _, size, start, count in self._arguments)

    def helper(self) -> Iterator[str]:
        """Yield the method that makes a read and raises for a wrong result."""
        start, count, fully = ("0", "at[1]", "at[2]") if self._is_plain else _COLUMNS
        arguments = f"(at[0], buffer, {start}, {count})"
        yield "  static Void read(FSDataInputStream in, int[] at, byte[] data) throws Exception {"
        yield "    byte[] buffer = new byte[at[1]];"
        if {step.op for step in self.reads} == {"read_fully"}:
            yield f"    in.readFully{arguments};"
            yield f"    int n = {count};"
        elif self._is_mixed:
            yield f"    int n = {fully} == 1 ? {count} : in.read{arguments};"
            yield f"    if ({fully} == 1) in.readFully{arguments};"
        else:
            yield f"    int n = in.read{arguments};"
        end = "n" if self._is_plain else f"{start} + n"
        same = f"Arrays.equals(buffer, {start}, {end}, data, at[0], at[0] + n)"
        yield f"    if (n > 0 && {same}) return null;"
        came = 'n + " bytes at " + at[0] + " " + Arrays.toString(buffer)'
        yield f'    throw new AssertionError("actual: " + {came});'
        yield "  }"
        yield ""

    def statements(self) -> Iterator[str]:
        """Yield the statements that run the threads up to the first wrong result."""
        yield from self.file()
        yield from self._table()
        yield f"ExecutorService pool = Executors.newWorkStealingPool({len(self.reads)});"
        yield f"for (int tries = 0; tries < {_JAVA_TRIES}; tries++) {{"
        yield "  try (FSDataInputStream in = fs.open(path)) {"
        tasks = "Arrays.stream(reads).<Callable<Void>>map(r -> () -> read(in, r, data)).toList()"
        yield f"    var tasks = {tasks};"
        yield "    for (Future<Void> task : pool.invokeAll(tasks)) task.get();"
        yield "  }"
        yield "}"

    def judged(self, junit: bool, is_brief: bool) -> Iterator[str]:
        """Yield the statement that ends the program if no result was wrong, which would raise."""
        yield from () if junit else ("System.exit(0);",)

    def _table(self) -> Iterator[str]:
        """Yield the statement of the arguments of each read."""
        names = ["position", "length"]
        if not self._is_plain:
            names = ["position", "size", "offset", "length"]
        rows = [[*row[: len(names)]] for row in self._arguments]
        if self._is_mixed:
            names.append("fully")
            for row, step in zip(rows, self.reads, strict=True):
                row.append(int(step.op == "read_fully"))
        texts = [f"{{{', '.join(map(str, row))}}}" for row in rows]
        comment = f"// {', '.join(names)}"
        whole = f"int[][] reads = {{{', '.join(texts)}}};"
        if len(whole) <= WIDTH - 4:
            both = f"{whole} {comment}"
            yield from [both] if len(both) <= WIDTH - 4 else [comment, whole]
            return
        fitting = (WIDTH - 6) // (max(map(len, texts)) + 2)
        # As formatters want it: rows of the same length, or at least three with a shorter last one.
        rows_of = range(1, fitting + 1)
        count = max(n for n in rows_of if len(texts) % n == 0 or 2 < n < len(texts) / 2)
        yield f"int[][] reads = {{ {comment}"
        for at in range(0, len(texts), count):
            line = ", ".join(texts[at : at + count])
            yield f"  {line}{',' if at + count < len(texts) else ''}"
        yield "};"
