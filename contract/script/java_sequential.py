"""Write calls of a Java filesystem, of which the last one fails, as Java statements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import groupby

from fscontract.contract.models.permitted import FAR, Permitted
from fscontract.contract.models.stream_state import ANY
from fscontract.contract.program.program import Step
from fscontract.contract.script.calls import Call, Form, JavaApi, NoScript
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.java_class import JavaClass, condition, raising, tolerant
from fscontract.contract.script.plan import UNUSUAL_NAME, Plan, PlannedCall
from fscontract.contract.script.sequential import joined

#: The variable of a number that a call returns.
_N = re.compile(r"\bn\b")
#: The most bytes of the ranges of a vectored read.
_MOST_BYTES = 16


class OpenClass(JavaClass):
    """An open of a file, which has to return a stream."""

    def __init__(self, api: JavaApi, failure: Failure, data: bytes) -> None:
        if failure.program.at is not None and api.is_fixed:
            raise NoScript(UNUSUAL_NAME)
        super().__init__(api, failure, data)

    @property
    def needs_data(self) -> bool:
        """False: no byte is read."""
        return False

    def says(self) -> str:
        """Return the permitted outcome as text."""
        return "opens"

    def statements(self) -> Iterator[str]:
        """Yield the statements that open the file."""
        yield from self.file(self.failure.program.at)
        yield 'Object actual = "opens";'
        yield "try (FSDataInputStream in = fs.open(path)) {"
        yield "  in.getPos();"
        yield "} catch (Throwable error) {"
        yield "  actual = error;"
        yield "}"
        yield 'boolean right = actual.equals("opens");'


class SequentialClass(JavaClass):
    """Calls, of which the last one is judged."""

    def __init__(self, api: JavaApi, failure: Failure, planned: Plan) -> None:
        if len(planned.versions) > 1:
            raise NoScript("the file changes")
        if planned.program.at is not None and api.is_fixed:
            raise NoScript(UNUSUAL_NAME)
        super().__init__(api, failure, planned.versions[0])
        self.plan = planned
        if planned.last is None or planned.reopens:
            raise NoScript("the file can't be opened again")
        if "untouched" in failure.clause:
            raise NoScript("the bytes of the buffer that a call leaves alone are compared")
        self.step = planned.last
        call = api.spell(self.step, self._name(self.step))
        if call is None:
            raise NoScript(f"the API has no call for {self.step}")
        self.call: Call = call
        #: Whether the last call may do the same if an earlier call returns that should raise.
        self._is_same_if_missed = False
        if planned.lax is not None:
            with suppress(NoScript):
                lax = SequentialClass(api, failure, planned.lax).conditions()
                self._is_same_if_missed = lax == self.conditions()

    def says(self) -> str:
        """Return the permitted outcomes as text."""
        return " or ".join(dict.fromkeys(text for end in self.plan.ends for text in end.says))

    def _name(self, step: Step) -> str:
        return f"in{step.stream + 1}" if self.plan.program.streams > 1 else "in"

    def statements(self) -> Iterator[str]:
        """Yield the statements that set `actual` and `right`."""
        yield from self.file(self.plan.program.at)
        for stream in range(self.plan.program.streams):
            yield f"FSDataInputStream {self._name(Step('open', (), stream))} = fs.open(path);"
        if self.failure.hangs:
            yield from self._made((*self.plan.calls, PlannedCall(self.step, may_raise=True)))
            return
        yield from [] if self.plan.base is None else [f"int at = {self.plan.base};"]
        yield from self._made(self.plan.calls)
        yield from self._last()
        conditions = [*map(plain, self.conditions())]
        text = " ".join(conditions)
        if "raised" in text:
            yield "boolean raised = actual instanceof Throwable;"
        if _N.search(text) and self.call.form in (Form.BYTE, Form.FILLED):
            yield "int n = actual instanceof Integer number ? number : Integer.MIN_VALUE;"
        elif _N.search(text):
            yield "long n = actual instanceof Number number ? number.longValue() : Long.MIN_VALUE;"
        yield from condition("right", conditions)

    def _made(self, calls: Iterable[PlannedCall]) -> Iterator[str]:
        """Yield the statements that make calls without their results."""
        for may_raise, some in groupby(calls, lambda one: one.may_raise and not one.counted):
            made = [*map(self._before, some)]
            yield from tolerant(made) if may_raise else (f"{call};" for call in made)

    def _before(self, planned: PlannedCall) -> str:
        """Return a call before the last one; raise NoScript."""
        call = self._spelled(planned.step)
        if planned.must_raise and not (self.failure.hangs or self._is_same_if_missed):
            raise NoScript("the last call may do more if an earlier one does not raise")
        is_counted = planned.counted and not self.failure.hangs
        return f"at += {_count(call)}" if is_counted else str(call)

    def _spelled(self, step: Step) -> Call:
        call = self.api.spell(step, self._name(step))
        if step.op in ("change", "reopen") or call is None:
            raise NoScript("the calls before the last one need more than Java's calls")
        return call

    def judged(self, junit: bool, is_brief: bool) -> Iterator[str]:
        """Yield the statements that judge the result, or those after calls that all ended."""
        if not self.failure.hangs:
            yield from super().judged(junit, is_brief)
        elif not junit:
            yield "System.exit(0);"

    @property
    def needs_data(self) -> bool:
        """True if bytes that the last call reads are compared."""
        return not self.failure.hangs and any(
            end.counts or any(part.data for part in end.parts) for end in self.plan.ends
        )

    def conditions(self) -> list[str]:
        """Return the conditions of which one holds if the result is right; raise NoScript."""
        conditions = [*dict.fromkeys(self._conditions())]
        if not conditions:
            raise NoScript("nothing that this API can return is right")
        if {"!raised", "raised"} <= {*conditions}:
            raise NoScript("no result of the last call alone is wrong")
        return conditions

    def _last(self) -> Iterator[str]:
        call, text = self.call, self.call.on_buffer()
        if call.buffer:
            types = {Form.PARTS: "List<FileRange>"}
            made = "byte[]" if call.buffer.startswith("new byte") else "ByteBuffer"
            yield f"{types.get(call.form, made)} buffer = {call.buffer};"
        void = call.form in (Form.NOTHING, Form.PARTS) or ".readFully(" in text
        yield "Object actual;"
        yield "try {"
        yield f"  {text};" if void else f"  actual = {text};"
        yield from self._results() if void else ()
        yield "} catch (Throwable error) {"
        yield "  actual = error;"
        yield "}"

    def _results(self) -> Iterator[str]:
        waits = any(e.anything or any(part.data for part in e.parts) for e in self.plan.ends)
        if self.call.form is not Form.PARTS or not self.call.buffer or not waits:
            yield '  actual = "returned";'
            return
        yield f"  ByteBuffer all = ByteBuffer.allocate({sum(n for _, n in self.step.args[0])});"
        yield "  buffer.forEach(range -> all.put(range.getData().join()));"
        yield "  actual = Arrays.toString(all.array());"

    # The conditions -------------------------------------------------------------------------------

    def _conditions(self) -> Iterator[str]:
        ends = self.plan.ends
        if self.plan.base is not None:
            yield from raising(kind for end in ends for kind in end.kinds)
            yield from self._returning(joined(ends, self.plan), "at")
            return
        for end in ends:
            yield from raising(end.kinds)
            yield from self._returning(end, "" if end.position == ANY else str(end.position))

    def _returning(self, end: Permitted, at: str) -> Iterator[str]:
        if end.anything:
            yield "!raised"
        elif self.call.form is Form.NOTHING:
            if end.values:
                yield "!raised"
        elif self.call.form is Form.PARTS:
            yield from self._parts(end)
        else:
            numbers = sorted(value for value in end.values if type(value) is int)
            if end.rest is not None:
                yield f"{end.rest} <= n && n <= {len(self.data)} - at"
            if numbers and self.call.form is not Form.FILLED and at == "at":
                yield "n == at"
            elif numbers:
                yield _between(numbers)
            for value in end.values:
                if isinstance(value, bool):
                    yield f"Boolean.{str(value).upper()}.equals(actual)"
                elif value is None and ".readFully(" in self.call.text:
                    yield "!raised"
            yield from self._reading(end, at)

    def _reading(self, end: Permitted, at: str) -> Iterator[str]:
        if end.counts is None:
            return
        if not at:
            raise NoScript("the position of the stream is unknown")
        least, most = end.counts
        if self.call.form is Form.BYTE:
            yield f"n == (data[{at}] & 0xff)"
            return
        start, whole = self.call.start, ".readFully(" in self.call.text
        count = str(most) if whole else "n"
        first, last = (_sum(begin, count) for begin in (str(start), at))
        equal = f"Arrays.equals({self.call.filled}, {start}, {first}, data, {at}, {last})"
        equal = " && ".join([equal, *self._marks(count)])
        yield f"!raised && {equal}" if whole else f"{_between([least, most])} && {equal}"

    @property
    def shown(self) -> str:
        """The expression of what came, with the ByteBuffer if its position or limit counts."""
        return 'actual + ", " + buffer' if self._mark else "actual"

    @property
    def _mark(self) -> str:
        """The property of a ByteBuffer that the clause is about, "" if it is about none."""
        mark = self.failure.clause.rpartition(".")[2]
        is_mark = self.call.buffer.startswith("ByteBuffer") and mark in ("position", "limit")
        return mark if is_mark else ""

    def _marks(self, count: str) -> Iterator[str]:
        """Yield the condition on the position or limit of a ByteBuffer if the clause has one."""
        if self._mark:
            size, start, limit = self.step.args[-3:]
            after = _sum(str(start), count) if self._mark == "position" else limit
            yield f"buffer.{self._mark}() == {size if after is None else after}"

    def _parts(self, end: Permitted) -> Iterator[str]:
        if not end.parts or not any(part.data for part in end.parts):
            return
        if not all(part.data for part in end.parts):
            raise NoScript("some of the ranges have to fail")
        if sum(length for _, length in self.step.args[0]) > _MOST_BYTES:
            raise NoScript("the bytes of the ranges are too many")
        whole = b"".join(
            self.plan.versions[0][offset : offset + length] for offset, length in self.step.args[0]
        )
        yield f'"{[*memoryview(whole).cast("b")]}".equals(actual)'


def plain(text: str) -> str:
    """Return a text without sums with 0."""
    return text.replace(" 0 + ", " ")


def _sum(first: str, second: str) -> str:
    """Return the sum of two expressions."""
    if first.isdigit() and second.isdigit():
        return str(int(first) + int(second))
    return f"{first} + {second}"


def _count(call: Call) -> str:
    """Return the number of bytes that a call reads."""
    if call.form is Form.COUNT:
        return call.expression
    if call.form is Form.FILLED:
        return f"Math.max({call.expression}, 0)"
    raise NoScript("the result of the last call depends on those before it")


def _between(numbers: list[int]) -> str:
    least, most = numbers[0], numbers[-1]
    if least == most:
        return f"n == {_long(least)}"
    if most == FAR:
        return f"n >= {_long(least)}"
    return f"n >= {_long(least)} && n <= {_long(most)}"


def _long(number: int) -> str:
    """Return a number as Java; those beyond int have a suffix."""
    return f"{number}L" if abs(number) >= 1 << 31 else str(number)
