"""Write a failure of a Java filesystem as a class with `main`, or as a JUnit 5 test."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from textwrap import wrap

from fscontract.contract.binding import Binding
from fscontract.contract.models.permitted import FAR, Permitted
from fscontract.contract.models.stream_state import ANY
from fscontract.contract.program.outcome import Kind
from fscontract.contract.program.program import Step
from fscontract.contract.script.calls import Call, Form, JavaApi, NoScript, Source
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.plan import Plan, plan
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.text import printable

#: The most lines of the class.
MAX_LINES = 60
#: The most bytes of a file.
_MOST_BYTES = 1 << 16
_WIDTH = 100
#: The Java class of each kind; Error and others have none.
_CLASSES = {
    Kind.EOF: "EOFException",
    Kind.ILLEGAL_ARGUMENT: "IllegalArgumentException",
    Kind.INDEX: "IndexOutOfBoundsException",
    Kind.NULL: "NullPointerException",
    Kind.UNSUPPORTED: "UnsupportedOperationException",
}
#: What a class imports, by the names that it uses of each package.
_IMPORTS = {
    "java.io.*": r"(EOF|IO)Exception",
    "java.net.URI": "URI",
    "java.nio.ByteBuffer": "ByteBuffer",
    "java.util.*": "Arrays|List",
    "org.apache.hadoop.conf.Configuration": "Configuration",
    "org.apache.hadoop.fs.*": "FileSystem",
    "org.junit.jupiter.api.Test": "@Test",
}


def java_script(binding: Binding, source: Source, failure: Failure, junit: bool) -> str:
    """Return the class of a failure on a target; raise NoScript with the reason."""
    api = binding.java_api(source)
    if api is None:
        raise NoScript(f"the {binding.api} API is not one of Java; use --script python")
    planned = plan(
        failure.clause, failure.program, failure.features, failure.buffer, binding.fixed_content
    )
    return _Class(api, failure, planned, junit).text()


class _Class:
    """The parts of one class."""

    def __init__(self, api: JavaApi, failure: Failure, planned: Plan, junit: bool) -> None:
        self.api, self.failure, self.plan, self.junit = api, failure, planned, junit
        if planned.last is None or planned.base is not None:
            raise NoScript("the result of the last call depends on those before it")
        if len(planned.versions[0]) > _MOST_BYTES or len(planned.versions) > 1:
            raise NoScript("the file is too large, or it changes")
        if "untouched" in failure.clause:
            raise NoScript("the bytes of the buffer that a call leaves alone are compared")
        self.step = planned.last
        call = api.spell(self.step, self._name(self.step))
        if call is None:
            raise NoScript(f"the API has no call for {self.step}")
        self.call: Call = call

    def text(self) -> str:
        """Return the class."""
        clause = clauses()[self.failure.clause]
        versions = ", ".join(f"{name} {version}" for name, version in self.failure.versions.items())
        about = [f"{clause.id}: {clause.statement}", f"Expected by {clause.citation}."]
        about += [f"Measured with {versions}."] if versions else []
        about += ["The argument, or the property uri, is the URI of another filesystem."]
        head = [line for text in about for line in _comment(text)]
        body = [*self._junit_body()] if self.junit else [*self._main_body()]
        lines = [*head, *self._imports(body), "", *body]
        if len(lines) > MAX_LINES:
            raise NoScript(f"the class has {len(lines)} lines, more than {MAX_LINES}")
        return "\n".join(lines) + "\n"

    def _imports(self, body: list[str]) -> Iterator[str]:
        text = "\n".join(body)
        if self.junit:
            yield "import static org.junit.jupiter.api.Assertions.assertTrue;"
            yield ""
        for name, used in _IMPORTS.items():
            if re.search(rf"(?<!\w)({used})\b", text):
                yield f"import {name};"

    def _main_body(self) -> Iterator[str]:
        yield "public class Reproduction {"
        yield "  public static void main(String[] args) {"
        yield "    Object actual;"
        yield "    boolean right;"
        yield "    try {"
        yield f"      String uri = args.length > 0 ? args[0] : {_text(self.api.uri)};"
        yield from (f"      {line}" for line in self._statements())
        yield "    } catch (Throwable error) {"
        yield '      System.out.println("can\'t run: " + error);'
        yield "      System.exit(2);"
        yield "      return;"
        yield "    }"
        yield f"    System.out.println({_text(f'{self.failure.clause}: expected {self._says()}')});"
        yield '    System.out.println("actual: " + actual);'
        yield "    System.exit(right ? 0 : 1);"
        yield "  }"
        yield "}"

    def _junit_body(self) -> Iterator[str]:
        name = re.sub(r"\W(\w)", lambda match: match[1].upper(), self.failure.clause)
        yield "class ReproductionTest {"
        yield "  @Test"
        yield f"  void {name}() throws Exception {{"
        yield "    Object actual;"
        yield "    boolean right;"
        yield f'    String uri = System.getProperty("uri", {_text(self.api.uri)});'
        yield from (f"    {line}" for line in self._statements())
        yield f"    assertTrue(right, {_text(f'expected {self._says()}, got ')} + actual);"
        yield "  }"
        yield "}"

    def _says(self) -> str:
        return " or ".join(dict.fromkeys(text for end in self.plan.ends for text in end.says))

    def _name(self, step: Step) -> str:
        return f"in{step.stream + 1}" if self.plan.program.streams > 1 else "in"

    def _statements(self) -> Iterator[str]:
        """Yield the statements that set `actual` and `right`."""
        yield from _data(self.plan.versions[0])
        yield "Configuration configuration = new Configuration();"
        yield from self.api.configuration
        yield "FileSystem fs = FileSystem.newInstance(URI.create(uri), configuration);"
        yield f"Path path = new Path({self.api.path});"
        yield "fs.deleteOnExit(path);"
        yield "try (FSDataOutputStream out = fs.create(path, true)) {"
        yield "  out.write(data);"
        yield "}"
        for stream in range(self.plan.program.streams):
            yield f"FSDataInputStream {self._name(Step('open', (), stream))} = fs.open(path);"
        for planned in self.plan.calls:
            call = self.api.spell(planned.step, self._name(planned.step))
            if planned.step.op in ("change", "reopen") or call is None or planned.must_raise:
                raise NoScript("the calls before the last one need more than Java's calls")
            if planned.may_raise:
                yield f"try {{ {call}; }} catch (Exception error) {{ }}"
            else:
                yield f"{call};"
        yield from self._last()
        conditions = [*dict.fromkeys(self._conditions())]
        if not conditions:
            raise NoScript("nothing that this API can return is right")
        if {"!raised", "raised"} <= {*conditions}:
            raise NoScript("no result of the last call alone is wrong")
        if any("raised" in condition for condition in conditions):
            yield "boolean raised = actual instanceof Throwable;"
        if any("number" in condition for condition in conditions):
            yield "long number = actual instanceof Number"
            yield "    ? ((Number) actual).longValue() : Long.MIN_VALUE;"
        yield f"right = {conditions[0]};"
        yield from (f"right |= {condition};" for condition in conditions[1:])

    def _last(self) -> Iterator[str]:
        call, text = self.call, self.call.on_buffer()
        if call.buffer:
            types = {Form.PARTS: "List<FileRange>"}
            made = "byte[]" if call.buffer.startswith("new byte") else "ByteBuffer"
            yield f"{types.get(call.form, made)} buffer = {call.buffer};"
        yield "try {"
        void = call.form in (Form.NOTHING, Form.PARTS) or ".readFully(" in text
        if void:
            yield f"  {text};"
            yield from self._results()
        else:
            yield f"  actual = {text};"
        yield "} catch (Throwable error) {"
        yield "  actual = error;"
        yield "}"

    def _results(self) -> Iterator[str]:
        if self.call.form is not Form.PARTS or not self.call.buffer:
            yield '  actual = "returned";'
            return
        yield "  java.io.ByteArrayOutputStream all = new java.io.ByteArrayOutputStream();"
        yield "  for (FileRange range : buffer) {"
        yield "    ByteBuffer part = range.getData().get();"
        yield "    while (part.hasRemaining()) all.write(part.get());"
        yield "  }"
        yield "  actual = all.toByteArray();"

    # The conditions -------------------------------------------------------------------------------

    def _conditions(self) -> Iterator[str]:
        for end in self.plan.ends:
            yield from _raising(end.kinds)
            yield from self._returning(end)

    def _returning(self, end: Permitted) -> Iterator[str]:
        if end.anything:
            yield "!raised"
        elif self.call.form is Form.NOTHING:
            if end.values:
                yield "!raised"
        elif self.call.form is Form.PARTS:
            yield from self._parts(end)
        else:
            numbers = sorted(value for value in end.values if type(value) is int)
            if numbers:
                yield _between(numbers)
            for value in end.values:
                if isinstance(value, bool):
                    yield f"Boolean.{str(value).upper()}.equals(actual)"
                elif value is None and ".readFully(" in self.call.text:
                    yield "!raised"
            yield from self._reading(end)

    def _reading(self, end: Permitted) -> Iterator[str]:
        if end.counts is None:
            return
        if end.position == ANY:
            raise NoScript("the position of the stream is unknown")
        at, (least, most) = end.position, end.counts
        if self.call.form is Form.BYTE:
            yield f"number == (data[{at}] & 0xff)"
            return
        start, whole = self.call.start, ".readFully(" in self.call.text
        count = f"{most}" if whole else "(int) number"
        buffer = self.call.filled
        equal = f"Arrays.equals({buffer}, {start}, {start} + {count}, data, {at}, {at} + {count})"
        yield f"!raised && {equal}" if whole else f"{_between([least, most])} && {equal}"

    def _parts(self, end: Permitted) -> Iterator[str]:
        if not end.parts or not any(part.data for part in end.parts):
            return
        if not all(part.data for part in end.parts):
            raise NoScript("some of the ranges have to fail")
        whole = b"".join(
            self.plan.versions[0][offset : offset + length] for offset, length in self.step.args[0]
        )
        yield f"!raised && Arrays.equals((byte[]) actual, {_array(whole)})"


def _between(numbers: list[int]) -> str:
    least, most = numbers[0], numbers[-1]
    if least == most:
        return f"number == {least}"
    if most == FAR:
        return f"number >= {least}"
    return f"number >= {least} && number <= {most}"


def _raising(kinds: Iterable[Kind]) -> Iterator[str]:
    kinds = set(kinds)
    if Kind.OTHER in kinds:
        yield "raised"
        return
    if Kind.IO in kinds:
        eof = "" if Kind.EOF in kinds else " && !(actual instanceof EOFException)"
        yield f"actual instanceof IOException{eof}"
        kinds -= {Kind.EOF}
    yield from (f"actual instanceof {_CLASSES[k]}" for k in Kind if k in kinds and k in _CLASSES)


def _data(data: bytes) -> Iterator[str]:
    if len(data) <= 16:
        yield f"byte[] data = {_array(data)};"
        return
    from fscontract.contract.script.data import linear, recurrence

    yield f"byte[] data = new byte[{len(data)}];"
    line = linear(data)
    if line is not None:
        first, step = line
        yield "for (int i = 0; i < data.length; i++) {"
        yield f"  data[i] = (byte) (5 + ({first} + {step} * i) % 251);"
        yield "}"
        return
    (a, b, c), shift = recurrence(data)
    yield f"for (int i = 0, a = {a}, b = {b}, c = {c}, d; i < data.length; i++) {{"
    yield f"  data[i] = (byte) (5 + (a + {shift}) % 251);"
    yield "  d = (11 * a + 243 * b) % 251; a = b; b = c; c = d;"
    yield "}"


def _array(data: bytes) -> str:
    values = ", ".join(str(byte - 256 if byte > 127 else byte) for byte in data)
    return f"new byte[] {{{values}}}"


def _text(text: str) -> str:
    """Return a text as a Java literal."""
    escaped = printable(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'


def _comment(text: str) -> Iterator[str]:
    text = printable(" ".join(text.split())).replace("\\", "\\\\")  # \u has a meaning in comments
    yield from (f"// {line}" for line in wrap(text, _WIDTH - 3))
