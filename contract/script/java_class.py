"""The parts that all Java classes of failures have: a class with `main`, or a JUnit 5 test."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from textwrap import shorten, wrap
from typing import ClassVar

from fscontract.contract.program.outcome import Kind
from fscontract.contract.script.calls import JavaApi, NoScript
from fscontract.contract.script.data import linear, recurrence
from fscontract.contract.script.exceptions import with_classes
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.frame import MAX_LINES
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.text import printable

#: The most bytes of a file.
_MOST_BYTES = 1 << 16
_WIDTH = 100
#: The most lines of classes of threads, and of those that make an archive or a configuration.
MOST_LINES = 50
#: The most characters of the expected outcomes that a class prints.
_MOST_SAID = 70
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
    "java.util.*": "Arrays|List|Random",
    "java.util.concurrent.*": "Future|Callable|ExecutionException|CyclicBarrier",
    "org.apache.hadoop.conf.Configuration": "Configuration",
    "org.apache.hadoop.fs.*": "FileSystem",
    "org.junit.jupiter.api.*": "@Test",
}


class JavaClass(ABC):
    """A class that shows a failure on a file with these bytes."""

    #: The most lines.
    max_lines: int
    #: The expression that is true if nothing failed.
    right: ClassVar[str] = "right"

    def __init__(self, api: JavaApi, failure: Failure, data: bytes) -> None:
        self.api, self.failure, self.data = api, failure, data
        self.max_lines = MOST_LINES if api.is_archive or api.configuration else MAX_LINES
        if len(data) > _MOST_BYTES:
            raise NoScript(f"the file has {len(data):,} bytes")

    @abstractmethod
    def statements(self) -> Iterator[str]:
        """Yield the statements that set `actual` and `right`."""

    @property
    def shown(self) -> str:
        """The expression of what came."""
        return "actual"

    @abstractmethod
    def says(self) -> str:
        """Return the permitted outcomes as text."""

    def filesystem(self) -> Iterator[str]:
        """Yield the statements that make `fs` and `path`."""
        yield from self.content()
        yield "Configuration configuration = new Configuration();"
        yield from self.api.configuration
        if self.api.is_archive:
            yield from _archive(len(self.data))
        yield f"FileSystem {self.files} = FileSystem.newInstance(URI.create(uri), configuration);"
        if self.api.is_context:
            yield "FileContext fs = FileContext.getFileContext(URI.create(uri), configuration);"
        yield f"Path path = new Path({self.api.path});"

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

    def preparation(self) -> Iterator[str]:
        """Yield the statements that also write the file."""
        yield from self.filesystem()
        yield from self.write()

    def write(self) -> Iterator[str]:
        """Yield the statements that write the file at `path`."""
        if not self.api.is_fixed:
            yield f"try (FSDataOutputStream out = {self.files}.create(path, true)) {{"
            yield "  out.write(data);"
            yield "}"
            yield f"{self.files}.deleteOnExit(path);"

    def text(self, junit: bool) -> str:
        """Return the class, or the JUnit test; raise NoScript if it is too long."""
        clause = clauses()[self.failure.clause]
        versions = ", ".join(f"{name} {version}" for name, version in self.failure.versions.items())
        about = f"{clause.id}: {clause.statement} Expected by {clause.citation}."
        measured = f"{about} Measured with {versions}." if versions else about
        body = [*self._junit_body()] if junit else [*self._main_body()]
        rest = [part for line in (*_imports(body), "", *body) for part in _folded(line)]
        heads = [*_comment(measured)], [*_comment(about)]
        lines = min(([*head, *rest] for head in heads), key=lambda one: len(one) > self.max_lines)
        if len(lines) > self.max_lines:
            raise NoScript(f"the class has {len(lines)} lines, more than {self.max_lines}")
        return "\n".join(lines) + "\n"

    def _main_body(self) -> Iterator[str]:
        yield "public class Reproduction {"
        yield "  public static void main(String[] args) throws Exception {"
        uri = self.api.uri
        other = "archive" if self.api.is_archive else "filesystem"
        yield f"    String uri = args.length > 0 ? args[0] : {uri}; // or of another {other}"
        yield from (f"    {line}" for line in self.statements())
        text = self._message(f"{self.failure.clause}: ")
        yield from _joined("    System.out.println(", text, f" + {self.shown});")
        yield f"    System.exit({self.right} ? 0 : 1);"
        yield "  }"
        yield "}"

    def _message(self, start: str) -> str:
        """Return the literal of the text before the actual outcome."""
        said = f"{start}expected {with_classes(self.says(), is_java=True)}"
        expected = shorten(said, _MOST_SAID, placeholder=" ...")
        return text_literal(f"{expected}, actual: ")

    def _junit_body(self) -> Iterator[str]:
        name = re.sub(r"\W(\w)", lambda match: match[1].upper(), self.failure.clause)
        yield "class ReproductionTest {"
        yield "  @Test"
        yield f"  void {name}() throws Exception {{"
        yield f'    String uri = System.getProperty("uri", {self.api.uri});'
        yield from (f"    {line}" for line in self.statements())
        text = self._message("")
        yield from _joined(f"    Assertions.assertTrue({self.right}, ", text, f" + {self.shown});")
        yield "  }"
        yield "}"


def _archive(length: int) -> Iterator[str]:
    """Yield the statements that make an archive at `uri` with one file, which has bytes around."""
    index = f"%2F dir 0+420+u+g 0 0 file \n%2Ffile file part-0 9 {length} 0+420+u+g \n"
    master = f"3 \n0 2147483647 0 {len(index)} \n"
    yield "Path archive = new Path(URI.create(uri).getPath());"
    yield "FileSystem disk = FileSystem.getLocal(configuration).getRaw();"
    yield "disk.mkdirs(archive);"
    yield "disk.deleteOnExit(archive);"
    yield "byte[] part = ByteBuffer.allocate(data.length + 20).position(9).put(data).array();"
    yield 'FileUtil.write(disk, new Path(archive, "part-0"), part);'
    yield f"byte[] index = {json.dumps(index)}.getBytes();"
    yield 'FileUtil.write(disk, new Path(archive, "_index"), index);'
    written = f"{json.dumps(master)}.getBytes()"
    yield f'FileUtil.write(disk, new Path(archive, "_masterindex"), {written});'


def _joined(start: str, text: str, end: str) -> list[str]:
    """Return a call as a line, or as two if it is too long."""
    whole = f"{start}{text}{end}"
    return [whole] if len(whole) <= _WIDTH else [start.rstrip(), f"        {text}{end}"]


def _imports(body: list[str]) -> Iterator[str]:
    text = "\n".join(body)
    for name, used in _IMPORTS.items():
        if re.search(rf"(?<!\w)({used})\b", text):
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
    start = len(line) - len(line.lstrip())
    indent = " " * (start + 4)
    for mark, kept in ((" ? ", 0), (" && ", 0), (" = ", 2), (", ", 1), (").", 1)):
        at = line.rfind(mark, start, _WIDTH)
        if at > 0 and line.count('"', 0, at) % 2 == 0:
            return [line[: at + kept], *_folded(f"{indent}{line[at + kept :].lstrip()}")]
    return [line]


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
