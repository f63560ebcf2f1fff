"""The parts that all Java classes of failures have: a class with `main`, or a JUnit 5 test."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from textwrap import shorten, wrap

from fscontract.contract.program.opened_path import OpenedPath
from fscontract.contract.program.outcome import Kind
from fscontract.contract.script.calls import JavaApi, NoScript
from fscontract.contract.script.data import linear, recurrence
from fscontract.contract.script.exceptions import with_classes
from fscontract.contract.script.failure import TRIES, Failure
from fscontract.contract.script.frame import LIMIT, MAX_LINES
from fscontract.contract.script.layout import arguments
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.text import printable

#: The most bytes of a file.
_MOST_BYTES = 1 << 23
_WIDTH = 100
#: The most pairs that `Map.of` takes.
_MOST_PAIRS = 10
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
    "java.nio.ByteBuffer": "ByteBuffer",
    "java.nio.file.Files": "Files",
    "java.util.*": "Arrays|HashMap|List|Map|Random",
    "java.util.concurrent.*": "Future|Callable|ExecutionException|CompletableFuture|TimeUnit",
    "org.apache.hadoop.fs.*": "Path",
    "org.apache.hadoop.fs.impl.*": "FutureDataInputStreamBuilderImpl",
    "org.apache.hadoop.fs.statistics.IOStatisticsSupport": "IOStatisticsSupport",
    "org.apache.hadoop.util.functional.InvocationRaisingIOE": "InvocationRaisingIOE",
    "org.junit.jupiter.api.*": "@Test",
}


class JavaClass(ABC):
    """A class that shows a failure on a file with these bytes."""

    #: The expression that is true if nothing failed.
    right = "right"
    #: The annotation of a JUnit test.
    test = "@Test"

    def __init__(self, api: JavaApi, failure: Failure, data: bytes) -> None:
        self.api, self.failure, self.data = api, failure, data
        if len(data) > _MOST_BYTES:
            raise NoScript(f"the file has {len(data):,} bytes")

    @abstractmethod
    def statements(self) -> Iterator[str]:
        """Yield the statements that set `actual` and `right`."""

    @property
    def needs_data(self) -> bool:
        """True if the bytes of the file matter, and not only their number."""
        return True

    @property
    def shown(self) -> str:
        """The expression of what came."""
        return "actual"

    @abstractmethod
    def says(self) -> str:
        """Return the permitted outcomes as text."""

    def filesystem(self) -> Iterator[str]:
        """Yield the statements that make `fs` and `path`."""
        yield from self.content() if self.needs_data else ()
        yield "var configuration = new org.apache.hadoop.conf.Configuration();"
        yield from _set_options(self.api.configuration)
        made = "java.net.URI.create(uri), configuration"
        if self.api.is_archive:
            yield from self._archive()
        if not (self.api.is_context and self.api.is_fixed):
            yield f"FileSystem {self.files} = FileSystem.newInstance({made});"
        if self.api.is_context:
            yield f"FileContext fs = FileContext.getFileContext({made});"
        yield f"Path path = new Path({self.api.path});"

    def _archive(self) -> Iterator[str]:
        """Yield the statements that make an archive at `uri` with one file between other bytes."""
        index = f"/ dir x 0 0 file \n/file file p 9 {len(self.data)} x \n"
        master = f"3 \n0 2147483647 0 {len(index)} \n"
        place = "java.nio.file.Path.of(java.net.URI.create(uri).getPath())"
        yield f"var dir = Files.createDirectories({place});"
        size = len(self.data) + 20
        part = f"java.nio.ByteBuffer.allocate({size}).position(9).put(data).array()"
        part = part if self.needs_data else f"new byte[{size}]"
        yield f'Files.write(dir.resolve("p"), {part});'
        yield f'Files.writeString(dir.resolve("_index"), {json.dumps(index)});'
        yield f'Files.writeString(dir.resolve("_masterindex"), {json.dumps(master)});'
        yield "FileSystem.getLocal(configuration).deleteOnExit(new Path(dir.toString()));"

    @property
    def files(self) -> str:
        """The variable of the filesystem that writes files."""
        return "files" if self.api.is_context else "fs"

    def content(self) -> Iterator[str]:
        """Yield the statements that make the bytes of the file."""
        if self.api.content is None:
            yield from _data(self.data)
            return
        copy = f"java.nio.file.Path.of({text_literal(str(self.api.content.resolve()))})"
        yield f"byte[] data = java.nio.file.Files.readAllBytes({copy});"

    def emptied(self) -> Iterator[str]:
        """Yield the statement after which nothing is at `path`."""
        fixed = 'path = new Path(path + "-missing");'
        yield fixed if self.api.is_fixed else f"{self.files}.delete(path, true);"

    def directory(self) -> Iterator[str]:
        """Yield the statements that make a directory at `path`; raise NoScript."""
        if self.api.is_fixed:
            raise NoScript("no directory can be made at a path of this target")
        yield from (*self.emptied(), f"{self.files}.mkdirs(path);")

    def file(self, at: OpenedPath | None = None) -> Iterator[str]:
        """Yield the statements that also write the file, with its name if that is unusual."""
        yield from self.filesystem()
        if at is not None:
            yield f"path = new Path(path.getParent(), {json.dumps(at.name)});"
        yield from self.write()
        if at is not None and at.neighbour:
            other = f"new Path(path.getParent(), {json.dumps(at.neighbour)})"
            yield f"{self.files}.create({other}, true).close();"

    def write(self) -> Iterator[str]:
        """Yield the statements that write the file at `path`."""
        if not self.api.is_fixed:
            yield f"try (FSDataOutputStream out = {self.files}.create(path, true)) {{"
            yield f"  out.write({'data' if self.needs_data else f'new byte[{len(self.data)}]'});"
            yield "}"
            yield f"{self.files}.deleteOnExit(path);"

    def text(self, junit: bool) -> str:
        """Return the class, or the JUnit test; raise NoScript if it is too long."""
        clause = clauses()[self.failure.clause]
        versions = ", ".join(f"{name} {version}" for name, version in self.failure.versions.items())
        about = f"{clause.id}: {clause.statement} Expected by {clause.citation}."
        measured = f"{about} Measured with {versions}." if versions else about
        heads = [*_comment(measured)], [*_comment(about)]
        for head, is_brief in product(heads, (False, True)):
            inner = [*self.statements(), *self.judged(junit, is_brief)]
            inner = [*self._repeated(inner, junit)] if self.failure.is_repeated else inner
            body = [*self._start(junit), *(f"    {line}" for line in inner), "  }", "}"]
            rest = (part for line in (*_imports(body), "", *body) for part in _folded(line))
            lines = [*head, *rest]
            if len(lines) <= MAX_LINES:
                return "\n".join(lines) + "\n"
        raise NoScript(f"the class has {len(lines)} lines, more than {MAX_LINES}")

    def _start(self, junit: bool) -> Iterator[str]:
        """Yield the lines up to the one that sets `uri`."""
        yield "class ReproductionTest {" if junit else "public class Reproduction {"
        yield from self.helper()
        if junit:
            name = re.sub(r"\W(\w)", lambda match: match[1].upper(), self.failure.clause)
            yield f"  {self.test}"
            yield from [f"  @Timeout({LIMIT})"] if self.failure.hangs else []
            yield f"  void {name}() throws Exception {{"
            yield f'    String uri = System.getProperty("uri", {self.api.uri});'
            return
        other = "archive" if self.api.is_archive else "filesystem"
        yield "  public static void main(String[] args) throws Exception {"
        given = f"args.length > 0 ? args[0] : {self.api.uri}"
        yield f"    String uri = {given}; // or of another {other}"
        if self.failure.hangs:
            late = f"CompletableFuture.delayedExecutor({LIMIT}, TimeUnit.SECONDS)"
            yield f"    var late = {late}; // a call that hangs ends with 1"
            yield "    late.execute(() -> Runtime.getRuntime().halt(1));"
            yield f'    System.out.println("expected: ends within {LIMIT} s");'

    def _repeated(self, statements: list[str], junit: bool) -> Iterator[str]:
        """Yield the statements of runs up to one that fails."""
        yield f"for (int run = 1; run <= {TRIES}; run++) {{ // it fails in some runs only"
        shown = [] if junit else statements[-2:]
        yield from (f"  {line}" for line in statements[: len(statements) - len(shown)])
        if shown:
            yield f"  if (!{self.right} || run == {TRIES}) {{"
            yield from (*(f"    {line}" for line in shown), "  }")
        yield "}"

    def helper(self) -> Iterator[str]:
        """Yield the lines of a method that the statements call."""
        yield from ()

    def judged(self, junit: bool, is_brief: bool) -> Iterator[str]:
        """Yield the statements that print or assert what is expected and what came.

        If they do not fit on a line, what is expected is cut to one if `is_brief`, or to the next.
        """
        call = "Assertions.assertTrue(" if junit else "System.out.println("
        first = f"{self.right}, " if junit else ""
        text = with_classes(self.says(), is_java=True)
        room = _WIDTH - len(f'    {call}{first}"expected , actual: " + {self.shown});')
        if len(text_literal(text)) - 2 > room:
            room += 0 if is_brief else len(call) - 4
        expected = shorten(text, room, placeholder=" ...")
        yield f"{call}{first}{text_literal(f'expected {expected}, actual: ')} + {self.shown});"
        if not junit:
            yield f"System.exit({self.right} ? 0 : 1);"


def _set_options(options: Mapping[str, str]) -> Iterator[str]:
    """Yield the statements that set options of `configuration`: as many with one as fit on it."""
    pairs = [f"{json.dumps(name)}, {value}" for name, value in options.items()]
    while pairs:
        for count in range(min(len(pairs), _MOST_PAIRS), 0, -1):
            line = f"Map.of({', '.join(pairs[:count])}).forEach(configuration::set);"
            if len(line) <= _WIDTH - 4:
                break
        yield line if count > 1 else f"configuration.set({pairs[0]});"
        pairs = pairs[count:]


def _imports(body: list[str]) -> Iterator[str]:
    text = "\n".join(body)
    for name, used in _IMPORTS.items():
        if re.search(rf"(?<![\w.])({used})\b", text):
            yield f"import {name};"


def raising(kinds: Iterable[Kind]) -> Iterator[str]:
    """Yield the conditions of which one holds if `actual` is an exception of these kinds."""
    kinds = set(kinds)
    if Kind.OTHER in kinds:
        yield "raised"
        return
    if Kind.IO in kinds:
        eof = "" if Kind.EOF in kinds else " && !(actual instanceof EOFException)"
        yield f"actual instanceof IOException{eof}"
        kinds -= {Kind.EOF}
    yield from (f"actual instanceof {_CLASSES[k]}" for k in Kind if k in kinds and k in _CLASSES)


def condition(name: str, conditions: Iterable[str]) -> Iterator[str]:
    """Yield the statements that declare a truth value, of which one condition has to hold."""
    first, *others = dict.fromkeys(conditions)
    line = f"boolean {name} = {first}"
    for one in others:
        longer = f"{line} || {one};"
        if "&&" in longer or len(longer) > _WIDTH - 4:
            yield f"{line};"
            line = f"{name} |= {one}"
        else:
            line = longer[:-1]
    yield f"{line};"


def _data(data: bytes) -> Iterator[str]:
    if len(data) <= 16:
        yield f"byte[] data = {array_text(data).removeprefix('new byte[] ')};"
        return
    line = linear(data)
    if line is not None:
        first, step = line
        yield f"byte[] data = new byte[{len(data)}];"
        yield "for (int i = 0; i < data.length; i++) {"
        yield f"  data[i] = (byte) (5 + ({first} + {step} * i) % 251);"
        yield "}"
        return
    start, shift = recurrence(data)
    yield f"byte[] data = Arrays.copyOf({array_text(start)}, {len(data)});"
    yield "for (int i = 3; i < data.length; i++) {"
    a, b = "(data[i - 3] & 0xff)", "(data[i - 2] & 0xff)"
    yield f"  data[i] = (byte) (5 + (11 * {a} + 243 * {b} + {shift}) % 251);"
    yield "}"


def _folded(line: str) -> list[str]:
    """Return a line, or those into which formatters split it if it is too long."""
    if len(line) <= _WIDTH:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    head, equals, rest = line.partition(" = ")
    if equals and '"' not in head:
        return [f"{head} =", *_folded(f"{indent}{rest}")]
    for mark in ("&& ", "."):
        first, *others = _parts(line, mark)
        if others and '"' not in line[: line.index(mark)]:
            return [first.rstrip(), *(f"{indent}{mark}{one}".rstrip() for one in others)]
    head, opening, rest = line.partition("(")
    if not opening:
        return [line]
    inner, end = rest[: rest.rindex(")")], rest[rest.rindex(")") :]
    parts = [inner] if len(indent) + len(rest) <= _WIDTH else arguments(inner)
    return [f"{head}(", *(f"{indent}{part}," for part in parts[:-1]), f"{indent}{parts[-1]}{end}"]


def _parts(line: str, mark: str) -> list[str]:
    """Return the parts of an expression between marks outside of brackets, behind a call each."""
    parts, depth = [""], 0
    for at, char in enumerate(line):
        depth += (char in "({[") - (char in ")}]")
        if depth == 0 and line.startswith(mark, at) and line[at - 1] in ") ":
            parts.append("")
        parts[-1] += char
    return [parts[0], *(part.removeprefix(mark) for part in parts[1:])]


def tolerant(calls: list[str]) -> Iterator[str]:
    """Yield the statements that make calls, of which each may raise."""
    if len(calls) < 3:
        for call in calls:
            yield from ("try {", f"  {call};", "} catch (Exception error) { // it may raise", "}")
        return
    yield f"List<InvocationRaisingIOE> calls = List.of({', '.join(f'() -> {c}' for c in calls)});"
    yield "for (InvocationRaisingIOE call : calls) {"
    yield from ("  try {", "    call.apply();")
    yield from ("  } catch (Exception error) { // it may raise", "  }", "}")


def array_text(data: bytes) -> str:
    """Return bytes as a Java array."""
    values = ", ".join(str(byte - 256 if byte > 127 else byte) for byte in data)
    return f"new byte[] {{{values}}}"


def text_literal(text: str) -> str:
    """Return a text as a Java literal on one line, in ASCII."""
    return json.dumps(printable(text).replace("\n", " "))


def _comment(text: str) -> Iterator[str]:
    text = printable(" ".join(text.split())).replace("\\", "\\\\")  # \u has a meaning in comments
    yield from (f"// {line}" for line in wrap(text, _WIDTH - 3))
