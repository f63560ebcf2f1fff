"""Write calls of one thread, of which the last one fails, as a Python script."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import starmap
from typing import Any

from fscontract.contract.models.permitted import FAR, Permitted, window
from fscontract.contract.models.stream_state import ANY, opened
from fscontract.contract.program.outcome import Kind
from fscontract.contract.program.program import Program, Step, resolve_program
from fscontract.contract.script.calls import (
    Call,
    Form,
    NoScript,
    ScriptApi,
    Source,
    path_text,
)
from fscontract.contract.script.data import content_lines, equal_text
from fscontract.contract.script.exceptions import exception_classes
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.frame import EXIT, assembled, repeated, set_up
from fscontract.contract.script.layout import WIDTH, indented, printed, quoted, statement
from fscontract.contract.script.plan import UNUSUAL_NAME, Plan, PlannedCall, check_conditions

#: The most bytes of a result that a script prints whole.
_MOST_SHOWN = 32
#: The most characters of a value that a script prints whole.
_MOST_TEXT = 150
#: Conditions of a call that raised any exception, and of one that raised none.
#: The expression of an array of zeros, and the buffers that can be filled before a call.
_ITEMS = re.compile(r'array\("(?P<code>\w)", \[0\] \* (?P<count>\d+)\)')
_CAN_BE_FILLED = ("bytearray", "ByteBuffer", "array")
_ANY_ERROR, _NO_ERROR = "isinstance(actual, Exception)", "not isinstance(actual, Exception)"
_ANY_PANIC = "isinstance(actual, BaseException)"
#: A byte that buffers hold before a call, if what the call leaves alone matters.
_FILL = "\\x01"
#: The end of a file in outcomes.
_END = frozenset({-1, 0})


class SequentialScript:
    """The parts of one script."""

    def __init__(self, api: ScriptApi, source: Source, failure: Failure, planned: Plan) -> None:
        self.api, self.source, self.failure, self.plan = api, source, failure, planned
        self.call: Call | None = None
        if planned.last is not None:
            self.call = api.spell(planned.last, self._name(planned.last))
            if self.call is None:
                raise NoScript(f"the API has no call for {planned.last}")
        #: The conditions if a call that should raise has returned; none if they are the same.
        self._if_missed: list[str] = []
        self._ends_if_missed = True
        if planned.lax is not None:
            with suppress(NoScript):
                found = [*SequentialScript(api, source, failure, planned.lax).right("    ")]
                same = found == [*self.right("    ")]
                self._if_missed, self._ends_if_missed = [] if same else found, False

    def text(self) -> str:
        """Return the script, without the first difference if it is too long; raise NoScript."""
        try:
            return self._text(whole=True)
        except NoScript:
            return self._text(whole=False)

    def _text(self, whole: bool) -> str:
        own = self._writes_its_own
        cleanup = () if own or self.plan.contents[-1] is None else self.api.cleanup
        preparation = [*set_up([*self.file_made(), *self.calls_before(), *self.buffer_made()])]
        run = ["try:", *indented(self.last()), *self._on_error()]
        if self.failure.is_repeated and own:
            run = [*preparation, *repeated([*run, *self._closed()], self.right("    "))]
        elif self.failure.is_repeated:
            run = repeated([*preparation, *run, *self._closed()], self.right("    "))
        else:
            run = [*preparation, *run, *self.right()]
        lines = [
            *run,
            *self.shown(whole),
            *([] if self.failure.is_repeated else self._closed()),
            *(line for one in cleanup for line in statement(one)),
            EXIT,
        ]
        data = () if own else content_lines(self.plan.versions, self.source.content)
        return assembled(self.failure, data, lines, self._helper.splitlines())

    def _closed(self) -> Iterator[str]:
        """Yield the statements that close the streams, if the program may not end without."""
        if self.api.closes and self.plan.last is not None and self.plan.program.needs_stream:
            for stream in range(self.plan.program.streams):
                yield f"{self._name(Step('open', (), stream))}.close()"

    @property
    def _writes_its_own(self) -> bool:
        """True if the only call writes the files that it reads."""
        last = self.plan.last
        own = ("lib_", "fs_chain_")
        return last is not None and last.op.startswith(own) and not self.plan.calls

    @property
    def _helper(self) -> str:
        """The function that the last call needs, "" if none of its ranges may fail."""
        if self.call is None or not self.call.simple:
            return ""
        late = any(not part.data for end in self.plan.ends for part in end.parts)
        return self.call.helper if late else ""

    def _name(self, step: Step) -> str:
        return f"f{step.stream + 1}" if self.plan.program.streams > 1 else "f"

    def file_made(self) -> Iterator[str]:
        """Yield the statements that make the filesystem and write the file."""
        imports = self._library_imports()
        for line in self.api.setup:
            yield with_imports(line, imports)
        yield from imports
        at = self.plan.program.at
        if at is not None:
            if self.source.file or self.api.is_served or not self.api.write:
                raise NoScript(UNUSUAL_NAME)
            yield f"path = os.path.join(os.path.dirname(path), {quoted(at.name)})"
        if self.api.write and not self._writes_its_own:
            yield from self._write(0)
        if at is not None and at.neighbour:
            yield f"other = os.path.join(os.path.dirname(path), {quoted(at.neighbour)})"
            written = re.sub(r"\bpath\b", "other", self.api.write)
            yield from written.format('b"of another file"').splitlines()

    def calls_before(self) -> Iterator[str]:
        """Yield the statements that open the streams and make the calls before the last one."""
        for earlier in self.failure.before:
            yield from self._earlier(earlier)
        program = self.plan.program
        opens = (self.plan.last is not None or self.plan.reopens) and program.needs_stream
        for stream in range(program.streams if opens else 0):
            yield from self.api.opening(program, self._name(Step("open", (), stream)))
        if self._if_missed:
            yield "missed = False"
        changes = 0
        for index, call in enumerate(self.plan.calls):
            first = not any(one.counted for one in self.plan.calls[:index])
            if call.step.op == "change":
                changes += 1
                yield from self._change(call.step.args[0], changes)
            else:
                yield from self._before(call, first)

    def _earlier(self, program: Program) -> Iterator[str]:
        """Yield the statements of an earlier program, whose results do not matter."""
        check_conditions(program)
        if program.streams > 1 or program.at is not None:
            raise NoScript("an earlier program opens several streams, or another path")
        length = len(self.plan.contents[0] or b"")
        is_other = bool(self.api.write) and program.length != length
        if is_other:
            length = program.length
            yield from self.api.write.format(f"bytes({length})").splitlines()
        lines = [*self.api.opening(program, "f")] if program.needs_stream else []
        for step in resolve_program(program, length, self.failure.buffer).steps:
            call = self.api.spell(step, "f")
            if call is None or step.op in ("change", "reopen"):
                raise NoScript(f"the API has no call for {step}")
            lines += self._made(call)
        yield "with contextlib.suppress(Exception):  # another read, which fails or not"
        yield from indented(lines)
        if program.needs_stream:
            yield "with contextlib.suppress(Exception):"
            yield f"    {self.api.spell(Step('close'), 'f')}"
        if is_other:
            yield from self._write(0)

    @staticmethod
    def _made(call: Call) -> list[str]:
        """Return the statements that make a call without its result."""
        if call.ready or (call.form is Form.PARTS and call.buffer):
            return [f"buffer = {call.buffer}", *call.ready, call.on_buffer()]
        return [*_statements(call), call.expression]

    def buffer_made(self) -> Iterator[str]:
        """Yield the statements that make the buffer of the last call."""
        if self.call is not None and self.call.buffer:
            made = self.call.buffer
            items = _ITEMS.fullmatch(made) if self._fills else None
            if items is not None:
                size = int(items["count"]) * array(items["code"]).itemsize
                made = f'array("{items["code"]}", {self._blank} * {size})'
            yield f"buffer = {made}"
            if self._fills and items is None:
                whole = self.call.filled.removeprefix("bytes(").rstrip(")")
                yield f"{whole}[:] = {self._blank} * len({whole})"
            yield from self.call.ready

    @property
    def _fills(self) -> bool:
        """True if the bytes that a call leaves alone are other than zeros before."""
        call = self.call
        one_dimension = call is not None and call.buffer.startswith(_CAN_BE_FILLED)
        return one_dimension and "untouched" in self.failure.clause

    @property
    def _blank(self) -> str:
        return f'b"{_FILL}"' if self._fills else 'b"\\0"'

    def _library_imports(self) -> list[str]:
        calls = [self.api.spell(call.step, "f") for call in self.plan.calls]
        found = [text for call in (self.call, *calls) if call is not None for text in call.imports]
        return sorted(set(found))

    def _change(self, how: str, number: int) -> Iterator[str]:
        if how in ("delete", "replace"):
            yield self.api.delete
        if how != "delete":
            yield from self._write(number)

    def _write(self, number: int) -> Iterator[str]:
        yield from self.api.write.format(self._version(number)).splitlines()

    def _version(self, number: int) -> str:
        data = self.plan.contents[number]
        assert data is not None
        index = self.plan.versions.index(data)
        return f"DATA{index or ''}"

    def _before(self, planned: PlannedCall, first: bool) -> Iterator[str]:
        """Yield the statements of a call before the last one."""
        name = self._name(planned.step)
        if planned.step.op == "reopen":
            close = self.api.spell(replace(planned.step, op="close"), name)
            yield str(close)
            yield from self.api.opening(self.plan.program, name)
            return
        call = self.api.spell(planned.step, name)
        if call is None:
            return
        if call.form is Form.NEXT:  # there may be no more lines
            call = replace(call, text=f'{call.text.removesuffix(")")}, b"")')
        start = f"at = {self.plan.base} + " if first and self.plan.base else "at = "
        start = start if first else "at += "
        if planned.counted:
            lines = [*_statements(call), f"{start}{_count(call)}"]
        else:
            lines = self._made(call)
        if planned.may_raise and not planned.counted:
            yield "with contextlib.suppress(Exception):"
            yield from (f"    {line}" for line in lines)
            if planned.must_raise and self._if_missed:
                yield "    missed = True  # returns, so the next calls may do more"
            elif planned.must_raise and self._ends_if_missed:
                yield "    raise SystemExit(2)  # returns, so the next calls show nothing"
            return
        yield from lines

    def last(self) -> Iterator[str]:
        """Yield the statements of the last call, which set `actual`."""
        call = self.call
        if call is None or self.plan.reopens:
            yield from self.api.opening(self.plan.program, "f")
        if call is None:
            yield "actual = None"
            return
        yield from _statements(call)
        text = call.on_buffer()
        if call.helper:
            yield text
            yield f"actual = {(call.filled if self._helper else call.simple) or None}"
            return
        if call.form in (Form.BYTES, Form.EXACT):
            text = f"bytes({text})"
        elif call.form is Form.LINES or (call.form is Form.PARTS and not call.helper):
            text = f"list({text})"
        yield f"actual = {text}"

    def _on_error(self) -> Iterator[str]:
        if self.api.remote and not self.plan.is_closed:
            yield "except (ConnectionError, TimeoutError):"
            yield "    raise SystemExit(2)"
        yield f"except {'BaseException' if self.api.panics else 'Exception'} as error:"
        yield "    actual = error"

    def shown(self, whole: bool = True) -> Iterator[str]:
        """Yield the statements that print what is expected and what came.

        If `whole`, they also print the first difference of a long result.
        """
        ends, at, actual_at = self.plan.ends, "", ""
        if self.plan.base is not None:
            ends = (max(ends, key=lambda end: end.position),)
            at, actual_at = f", at {ends[0].position}", ", at {at}"
        said = dict.fromkeys(text for end in ends for text in end.says)
        text = " or ".join(map(self._in_python, said)) or "opens"
        actual = "{actual!r:.200}"
        if self._fills_buffer:
            actual += f" {{{self._filled}!r:.200}}"
        yield from printed(text + at, actual + actual_at)
        yield from self._difference() if whole else ()

    @property
    def _fills_buffer(self) -> bool:
        """True if the last call places bytes in a buffer of the script."""
        call = self.call
        return call is not None and call.form in (Form.FILLED, Form.INTO) and bool(call.buffer)

    @property
    def _filled(self) -> str:
        assert self.call is not None
        return self.call.filled

    def _difference(self) -> Iterator[str]:
        """Yield the statements that print the first difference of a long result."""
        values = {value for end in self.plan.ends for value in end.values}
        ends = [end for end in self.plan.ends if end.counts and end.counts[1] > _MOST_SHOWN]
        if self.call is None or self.plan.base is not None:
            return
        if self.call.form in (Form.EQUAL, Form.MAPPING):
            if len(values) == 1 and len(repr(*values)) > _MOST_TEXT:
                yield from _compared("repr(actual)", f"repr({self._expression(*values)})")
        elif len(ends) != 1 or ends[0].counts is None or ends[0].position == ANY:
            return
        elif self._fills_buffer:
            wanted = self._bytes(str(ends[0].position), ends[0].counts[1])
            before = f"bytes({self.call.start}) + " if self.call.start else ""
            yield from _compared(self._filled, f"{before}{wanted}")
        elif self.call.form in (Form.BYTES, Form.EXACT, Form.VALUE):
            yield "if isinstance(actual, bytes):"
            wanted = self._bytes(str(ends[0].position), ends[0].counts[1])
            yield from indented(_compared("actual", wanted))

    def _in_python(self, text: str) -> str:
        """Return a text of the model with Python's exceptions."""
        assert self.call is not None
        if self.call.form in (Form.BYTES, Form.EXACT) and text.startswith(
            ("returns -1", "returns 0")
        ):
            return "returns b''"
        if not text.startswith("raises "):
            return text
        names = self._exceptions(self.plan.ends)[0]
        return f"raises {' or '.join(names)}" if names else text

    # The conditions -------------------------------------------------------------------------------

    def right(self, indent: str = "") -> Iterator[str]:
        """Yield the statements that set `right`, true if the last call ended as it may.

        They are indented by `indent`.
        """
        if self.call is None:
            yield f"{indent}right = actual is None"
            return
        found = self.right_conditions()
        yield from (f"{indent}{line}" for line in self._may())
        for number, condition in enumerate(found):
            if number == 0:
                yield from _first_condition(condition, indent)
            else:
                inner = f"({condition})" if " and " in condition else condition
                yield from statement(f"right = right or {inner}", indent)
        if self._if_missed:
            yield f"{indent}if missed:"
            yield from (f"{indent}{line}" for line in self._if_missed)

    def right_conditions(self) -> list[str]:
        """Return the conditions of which one holds if the result is right; raise NoScript."""
        found = [*dict.fromkeys(self._conditions())]
        if not found:
            raise NoScript("nothing that this API can return is right")
        if {_ANY_ERROR, _NO_ERROR} <= {*found}:
            raise NoScript("no result of the last call alone is wrong")
        if self.api.panics:
            found = [one.replace(_ANY_ERROR, _ANY_PANIC) for one in found]
        return found

    def _conditions(self) -> Iterator[str]:
        ends = self.plan.ends
        yield from self._raising(ends)
        if self.plan.base is not None:
            yield from self._returning(joined(ends, self.plan), "at")
            return
        for end in ends:
            yield from self._returning(end, "" if end.position == ANY else str(end.position))

    def _exceptions(self, ends: tuple[Permitted, ...]) -> tuple[list[str], list[str]]:
        """Return the classes that the last call may raise, and further conditions."""
        step = self.plan.last
        assert step is not None

        def permits(error: Exception) -> bool:
            kind = self.api.failed(step, error, self.plan.is_closed).kind
            return any(kind in end.kinds for end in ends)

        return exception_classes(permits, has_numbers=any(map(_is_int, step.args)))

    def _raising(self, ends: tuple[Permitted, ...]) -> Iterator[str]:
        names, more = self._exceptions(ends)
        if names:
            group = names[0] if len(names) == 1 else f"({', '.join(names)})"
            yield " and ".join([f"isinstance(actual, {group})", *more])

    def _returning(self, end: Permitted, at: str) -> Iterator[str]:
        assert self.call is not None
        form = self.call.form
        if end.anything:
            yield _NO_ERROR
        elif form is Form.NOTHING:
            if end.values:
                yield _NO_ERROR
        elif form in (Form.FILLED, Form.INTO):
            yield from self._filling(end, at)
        elif form is Form.PARTS:
            yield from self._parts(end)
        elif form in (Form.EQUAL, Form.MAPPING):
            yield from self._equal(end)
        else:
            yield from self._reading(end, at)
            yield from self._values(end, at)

    def _equal(self, end: Permitted) -> Iterator[str]:
        """Yield the conditions of a call that returns one of the right values."""
        for value in end.values:
            sign = "is" if value is None or isinstance(value, bool) else "=="
            yield f"actual {sign} {self._expression(value)}"

    def _expression(self, value: Any) -> str:
        """Return the expression of a right value; raise NoScript if it is long."""
        assert self.call is not None
        data = self.plan.versions[0]
        if self.call.form is not Form.MAPPING:
            return equal_text(value, data)
        pairs = ((path_text(name), equal_text(part, data)) for name, part in value)
        return f"{{{', '.join(f'tail({path}): {part}' for path, part in pairs)}}}"

    def _bytes(self, at: str, count: int | str) -> str:
        """Return the expression of the bytes of the file that belong at a position."""
        if at.isdigit() and isinstance(count, int):
            return f"DATA[{at}:{int(at) + count}]"
        if at == "0":
            return f"DATA[:{count}]"
        return f"DATA[{at} : {at} + {count}]"

    def _reading(self, end: Permitted, at: str) -> Iterator[str]:
        """Yield the conditions of a call that returns bytes."""
        assert self.call is not None
        form = self.call.form
        if form is Form.EXACT and Kind.EOF in end.kinds:
            step = self.plan.last
            assert step is not None
            length = step.args[1] if step.op == "read_fully_all" else step.args[3]
            yield f"isinstance(actual, bytes) and len(actual) < {length}"
        ends = any(_is_int(value) and value in _END for value in end.values)
        ends |= form is Form.EXACT and None in end.values
        if ends and form in (Form.BYTES, Form.EXACT):
            yield f'actual == b""{self._at_the_end(end)}'
        if end.counts is None:
            return
        least, most = end.counts
        if form is Form.BYTE:
            yield from self._byte(at)
            return
        kind = "isinstance(actual, bytes)"
        if self._mixed(end):
            yield from self._of_versions(least, most)
        elif not at:
            yield f"{kind} and {least} <= len(actual) <= {most} and actual in DATA"
        elif least == most and form in (Form.BYTES, Form.EXACT):
            yield f"actual == {self._bytes(at, most)}"
        elif least == most:
            yield f"type(actual) is bytes and actual == {self._bytes(at, most)}"
        else:
            kind = kind if form is Form.BYTES else "type(actual) is bytes"
            bytes_ = self._bytes(at, most)
            yield f"{kind} and len(actual) >= {least} and {bytes_}.startswith(actual)"

    def _at_the_end(self, end: Permitted) -> str:
        """Return the condition in which a call that also reads bytes may read none, with "and"."""
        if self.plan.base is None or end.counts is None or len(self.plan.versions) > 1:
            return ""
        return " and at >= len(DATA)"

    def _byte(self, at: str) -> Iterator[str]:
        """Yield the condition of a byte as a number, which is -1 at the end."""
        kind = "type(actual) is int"
        if self.plan.base is None and len(self.plan.versions) > 1:
            if not at.isdigit():
                raise NoScript("the position is unknown and the file changes")
            found = {v[int(at)] for v in self.plan.versions if int(at) < len(v)}
            yield f"{kind} and actual in {{{', '.join(map(str, sorted(found)))}}}"
        elif at.isdigit():
            yield f"{kind} and actual == DATA[{at}]"
        elif at:
            yield f"{kind} and actual == (*DATA[at:], -1)[0]"
        else:
            yield f"{kind} and actual in DATA"

    def _of_versions(self, least: int, most: int) -> Iterator[str]:
        """Yield the condition of bytes that may each be of any content of the file."""
        kind = f"isinstance(actual, bytes) and {least} <= len(actual) <= {most}"
        yield f"{kind} and all(b in one for b, one in zip(actual, may))"

    def _may(self) -> Iterator[str]:
        """Yield the statement of the bytes that may be at each place, if the file changes."""
        end = next((end for end in self.plan.ends if end.counts), None)
        if end is None or end.counts is None or self.plan.base is not None or not self._mixed(end):
            return
        if self.call is not None and self.call.form is Form.BYTE:
            return
        if end.position == ANY or len(self.plan.ends) > 1:
            raise NoScript("the position is unknown and the file changes")
        names = ", ".join(f"DATA{number or ''}" for number in range(len(self.plan.versions)))
        places = f"range({end.position}, {end.position + end.counts[1]})"
        text = f"may = [{{v[i] for v in ({names}) if i < len(v)}} for i in {places}]"
        if len(text) > WIDTH:
            raise NoScript("the file changes too often")
        yield text

    def _mixed(self, end: Permitted) -> bool:
        """Return whether the bytes that a call reads differ between the contents of the file."""
        if end.counts is None or len(self.plan.versions) == 1:
            return False
        return end.position == ANY or self._differs(max(end.position, 0), end.counts[1])

    def _differs(self, start: int, length: int) -> bool:
        """Return whether the bytes of a range differ between the contents of the file."""
        return len({data[start : start + length] for data in self.plan.versions}) > 1

    def _values(self, end: Permitted, at: str) -> Iterator[str]:
        assert self.call is not None
        if self.call.form in (Form.BYTES, Form.EXACT):
            return
        if self.call.form is Form.NEXT:
            if None in end.values:
                yield "isinstance(actual, StopIteration)"
            return
        numbers = sorted(value for value in end.values if _is_int(value))
        if end.rest is not None:
            yield f"type(actual) is int and {end.rest} <= actual <= len(DATA) - {at}"
        if numbers:
            yield from _numbers(numbers, at if self.plan.base is not None else "")
        for value in end.values:
            if value is None or isinstance(value, bool):
                yield f"actual is {value}"
            elif value == b"":
                yield f'type(actual) is bytes and actual == b""{self._at_the_end(end)}'
            elif isinstance(value, tuple):
                yield f"actual == [{', '.join(self._lines(value, at))}]"

    def _lines(self, lines: tuple[bytes, ...], at: str) -> Iterator[str]:
        start = int(at or -1)
        if start < 0 or len(lines) > 6 or len(self.plan.versions) > 1:
            raise NoScript("the lines of the file are too many")
        for line in lines:
            yield f"DATA[{start}:{start + len(line)}]"
            start += len(line)

    def _filling(self, end: Permitted, at: str) -> Iterator[str]:
        """Yield the conditions of a call that places bytes in a buffer."""
        call, step = self.call, self.plan.last
        assert call is not None
        assert step is not None
        if not call.buffer:
            yield from self._values(end, "")
            return
        place = window(step, opened(self.plan.versions[0]))
        assert place is not None
        size = place.room if "[::2]" in call.filled else place.size
        yield from self._untouched(end, size)
        if end.counts is None:
            return
        if not at or (self._mixed(end) and self.plan.base is not None):
            raise NoScript("the bytes that may be in the buffer are too many")
        least, most = end.counts
        whole = step.op.startswith("read_fully")
        if self._mixed(end):
            kind = _NO_ERROR if whole else f"actual in range({least}, {most + 1})"
            start = call.start
            filled = f"{call.filled}[{start} : {start} + actual]"
            if whole:
                filled = f"{call.filled}[{start}:{start + most}]"
            yield f"{kind} and all(b in one for b, one in zip({filled}, may))"
            return
        count: int | str = most if whole or least == most else "actual"
        right = self._bytes(at, count)
        if call.start:
            before = f"{self._blank} * {call.start}" if self._fills else f"bytes({call.start})"
            right = f"({before} + {right})"
        if call.start or least != most or most != size:
            right = f"{right}.ljust({size}, {self._blank})"
        conditions = [f"actual in range({least}, {most + 1})"]
        if least == most:
            conditions = [f"actual == {most}"]
        if whole:
            conditions = [_NO_ERROR]
        elif count == "actual" and self.plan.base is not None:
            conditions.append(f"{at} + actual <= len(DATA)")
        plain = call.filled == "bytes(buffer)" and call.buffer.startswith("bytearray")
        conditions.append(f"{'buffer' if plain else call.filled} == {right}")
        if step.op.endswith("_buffer"):
            after = f"{call.start} + actual" if count == "actual" else f"{call.start + int(count)}"
            conditions.append(f"buffer.position == {after.removeprefix('0 + ')}")
            conditions.append(f"buffer.limit == {place.start + place.room}")
        yield " and ".join(conditions)

    def _untouched(self, end: Permitted, size: int) -> Iterator[str]:
        """Yield the conditions of a call that leaves a buffer of `size` bytes as it was."""
        call = self.call
        assert call is not None
        numbers = sorted(value for value in end.values if _is_int(value))
        if call.form is Form.INTO and -1 in numbers:
            numbers = sorted({*numbers, 0})
        for value in (*numbers, *(None for value in end.values if value is None)):
            equal = f"actual is {value}" if value is None else f"actual == {value}"
            untouched = f"not any({call.filled})"
            if self._fills:
                untouched = f"{call.filled} == {self._blank} * {size}"
            yield f"{equal} and {untouched}{self._at_the_end(end)}"

    def _parts(self, end: Permitted) -> Iterator[str]:
        step = self.plan.last
        assert step is not None
        if not end.parts:
            yield "actual == []"
            return
        if not any(part.data or part.kinds for part in end.parts):
            return  # the call itself has to raise
        limits = step.args[0]
        if all(part.data for part in end.parts) and not any(starmap(self._differs, limits)):
            parts = (self._bytes(str(offset), length) for offset, length in limits)
            yield f"actual == [{', '.join(parts)}]"
            return
        conditions = [f"isinstance(actual, list) and len(actual) == {len(end.parts)}"]
        for number, (part, (offset, length)) in enumerate(zip(end.parts, limits, strict=True)):
            one = f"actual[{number}]"
            ways = [f"{one} == {self._range(offset, length)}"] if part.data else []
            if part.kinds and (not ways or self._differs(offset, length)):
                names = self._exceptions((replace(end, kinds=part.kinds),))[0]
                group = names[0] if len(names) == 1 else f"({', '.join(names)})"
                short = isinstance(self.api.spell(step, "f"), Call) and not self._helper
                late = f"isinstance({one}, {group})"
                if short:
                    names.append("bytes")
                    conditions.append(f"isinstance({one}, ({', '.join(names)}))")
                    late = f"isinstance({one}, Exception) or len({one}) < {length}"
                ways.append(late)
            if not ways:
                raise NoScript("a range has no right result")
            way = " or ".join(ways)
            conditions.append(f"({way})" if " or " in way else way)
        yield " and ".join(conditions)

    def _range(self, offset: int, length: int) -> str:
        """Return the expression of the bytes of a range; raise NoScript if it may have others."""
        found = [data[offset : offset + length] for data in self.plan.versions]
        whole = [*{data for data in found if len(data) == length}]
        if len(whole) != 1:
            raise NoScript("a range of the file that changes has several right results")
        number = found.index(whole[0])
        return self._bytes(str(offset), length).replace("DATA", f"DATA{number or ''}")


def _statements(call: Call) -> Iterator[str]:
    """Yield the statements before a call, with their blocks on separate lines."""
    for line in call.before:
        head, _, body = line.partition(": ")
        is_block = body and line.startswith(("for ", "if ", "with "))
        yield from (f"{head}:", f"    {body}") if is_block else (line,)


def _compared(got: str, wanted: str) -> Iterator[str]:
    """Yield the statements that print where two texts or bytes differ first, and what follows."""
    yield f"got, wanted = {got}, {wanted}"
    yield "at = len(os.path.commonprefix([got, wanted]))"
    yield 'print(f"from {at}: expected {wanted[at : at + 20]!r}, got {got[at : at + 20]!r}")'


def _count(call: Call) -> str:
    """Return the number of bytes that a call reads."""
    text = call.expression
    if call.form is Form.COUNT:
        return text
    if call.form is Form.BYTE:
        return f"int({text} >= 0)"
    return f"max({text}, 0)" if call.form in (Form.FILLED, Form.INTO) else f"len({text})"


def _reach_the_end(end: Permitted, least: int, size: int) -> bool:
    """Return whether values are numbers from the least one to that of the bytes that follow."""
    if not end.values or not all(map(_is_int, end.values)):
        return False
    return (min(end.values), max(end.values)) == (least, size - end.position)


def joined(ends: tuple[Permitted, ...], planned: Plan) -> Permitted:
    """Return what a call may do at any position that is counted; raise NoScript if that differs."""
    size = len(planned.versions[0])
    least = min(filter(_is_int, ends[0].values), default=0)
    if all(_reach_the_end(end, least, size) for end in ends):
        return replace(ends[0], values=(), rest=least)
    most = max((end.counts[1] for end in ends if end.counts), default=0)
    known = ((), (-1,), (b"",))  # True is 1 for the model
    values = {
        end.values for end in ends if {*end.values} - {end.position} and end.values not in known
    }
    for end in ends:
        least, maximum = end.counts or (1, 0)
        if end.counts and (maximum != min(most, size - end.position) or least not in (1, maximum)):
            raise NoScript("the result of the last call depends on those before it")
    if values or any(end.parts for end in ends):
        raise NoScript("the result of the last call depends on those before it")
    first = next((end for end in ends if end.counts), ends[0])
    last = next((end for end in ends if not end.counts and end.values), first)
    counts = None
    if first.counts:
        every = [end.counts for end in ends if end.counts]
        full = all(least == maximum for least, maximum in every) and most > 1
        counts = (most if full else 1, most)
        if full:
            counts = (most, most)
    return replace(first, counts=counts, values=last.values)


def _numbers(numbers: list[int], at: str) -> Iterator[str]:
    """Yield the condition of an integer that is one of these."""
    kind = "type(actual) is int"
    least, most = numbers[0], numbers[-1]
    if at:
        yield f"{kind} and actual == {at}"
    elif least == most:
        yield f"{kind} and actual == {least}"
    elif most == FAR:
        yield f"{kind} and actual >= {least}"
    elif len(numbers) == most - least + 1:
        yield f"{kind} and {least} <= actual <= {most}"
    elif len(numbers) <= 6:
        yield f"{kind} and actual in ({', '.join(map(str, numbers))})"
    else:  # between the numbers that were tried, others are right, too
        yield f"{kind} and {least} <= actual <= {most}"


def with_imports(line: str, imports: list[str]) -> str:
    """Return an import with the names that others import from the same module, which go."""
    module, _, names = line.partition(" import ")
    alike = [one for one in imports if names and one.startswith(f"{module} import ")]
    for one in alike:
        imports.remove(one)
        names = ", ".join(sorted({*names.split(", "), one.partition(" import ")[2]}))
    return f"{module} import {names}" if alike else line


def or_raised(right: Iterable[str], name: str) -> Iterator[str]:
    """Yield statements that set `right`, also true for exceptions of a class but EOFError."""
    *lines, last = right
    raised = f"(isinstance(actual, {name}) and not isinstance(actual, EOFError))"
    whole = f"{last} or {raised}"
    short = not lines and last.startswith("right = ") and " and " not in last
    if short and len(whole) <= WIDTH:
        yield whole
    else:
        yield from (*lines, last, f"right = right or {raised}")


def _first_condition(condition: str, indent: str) -> Iterator[str]:
    """Yield the statements that set `right` for the first time."""
    whole = statement(f"right = {condition}", indent)
    operands = condition.split(" and ")
    if len(whole) == 1 or len(operands) != 2:
        yield from whole
        return
    yield from statement(f"right = {operands[0]}", indent)  # as formatters split two operands oddly
    yield from statement(f"right = right and {operands[1]}", indent)


def _is_int(value: object) -> bool:
    return type(value) is int
