"""Failures as Java classes with `main`, and as JUnit tests."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from fscontract.contract.binding import Binding
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.cost_checks import cost_program
from fscontract.contract.script.calls import NoScript, Source
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.languages import java_script
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.spec.profiles import load_profile
from fscontract.contract.targets import resolve_target
from fscontract.implementations.jvm.jvm import hadoop_jars
from tests.limits import DEADLOCK

pytest.importorskip("jpype")
pytest.importorskip("pyspark")
needs_javac = pytest.mark.skipif(shutil.which("javac") is None, reason="needs a JDK")

_SIZE = "fs.option.openfile.buffer.size"


class _Shown(NamedTuple):
    """A program, and the exit code of its class on the raw local filesystem: 1 for findings."""

    clause: str
    code: int
    steps: list[Any]
    #: The rest of the program: how its file is opened.
    more: Mapping[str, Any] = MappingProxyType({})


def _built(*calls: list[Any], file: str = "file") -> dict[str, Any]:
    return {"open": {"file": file, "calls": [*calls]}}


_RANGES: list[Any] = ["read_vectored", [[0, 2], [2, 3]], "heap", "absent"]
_PROGRAMS = (
    _Shown("pread.eof", 1, [["pread", 2**63 - 1, 1, 0, 1]]),
    _Shown("skip.count", 1, [["skip", 2000]]),
    _Shown("read-byte.value", 0, [["seek", 7], ["read_byte"]]),
    _Shown("read-into.data", 0, [["read_into", 4, 1, 2]]),
    _Shown("read-fully.data", 0, [["read_fully", 1, 4, 1, 2]]),
    _Shown("read-vectored.data", 0, [_RANGES], {"length": 9}),
    _Shown("bytebuffer.data", 0, [["read_buffer", 8, 2, 6]]),
    _Shown("seek.negative", 0, [["seek", -1]]),
    _Shown("getpos.value", 0, [["seek", 3], ["get_pos"]]),
    _Shown("read-byte.closed", 0, [["close"], ["read_byte"]]),
    _Shown("open.number-default", 1, [], _built(["opt", _SIZE, "abc"])),
    _Shown("open.std-recognised", 0, [["read_byte"]], _built(["opt", _SIZE, "-1"])),
    _Shown("open.std-recognised", 0, [["read_byte"]], _built(["must_long", _SIZE, 4096])),
    _Shown("open.must-unknown", 0, [], _built(["must", "fs.x.unknown", "1"])),
    _Shown("open.status-path", 0, [], _built(["with_file_status", "own", None])),
    _Shown("open.status-path", 0, [["read_byte"]], _built(["with_file_status", "scheme", None])),
    _Shown("open.status-name-used", 0, [["read_byte"]], _built(["with_file_status", "name", None])),
    _Shown("open.get-ioerror", 0, [], _built(["with_file_status", "own", None], file="missing")),
    _Shown("open.get-ioerror", 0, [], _built(["with_file_status", "name", 4], file="directory")),
    _Shown("open.get-ioerror", 0, [], _built(file="missing")),
    _Shown("open.get-ioerror", 0, [], _built(file="directory")),
    _Shown("close.release", 1, [["close"]], _built(["opt", _SIZE, "-1"])),
    _Shown("close.release", 0, [["read_byte"], ["seek", -1], ["close"]]),
    _Shown("close.release", 1, [["close"]], _built(["opt", "x", "1"], ["buffer_size", 0])),
    _Shown("skip.count", 1, [["skip", 2**63 - 1]]),
    _Shown("open.missing", 0, [], {"at": {"kind": "missing"}}),
    _Shown("open.directory", 0, [], {"at": {"kind": "directory"}}),
    _Shown("open.directory", 0, [], {"at": {"kind": "empty-directory"}}),
    _Shown("open.below-file", 0, [], {"at": {"kind": "below-file"}}),
    _Shown("open.read-fails", 0, [], _built(file="foreign")),
    _Shown("close.release", 0, [], _built(file="missing")),
    _Shown("read-vectored.data", 0, [["read_vectored", [[0, 2]], "heap", "given"]], {"length": 9}),
    _Shown("open.name", 0, [["read_byte"]], {"at": {"kind": "named", "name": "\u00e9 %20 "}}),
    _Shown("open.name", 0, [], {"at": {"kind": "named", "name": "a%20b", "neighbour": "a b"}}),
    _Shown("available.bounds", 0, [["skip", 9], ["available"]]),
    _Shown("available.bounds", 0, [["seek", 900], ["available"]], {"length": 1000}),
    _Shown("getpos.value", 0, [["skip", 3], ["read_into", 9, 0, 9], ["get_pos"]]),
    _Shown("read-into.data", 0, [["skip", 3], ["read_into", 9, 1, 2]], {"length": 9}),
)
#: Programs on an archive, which does not check arguments and opens paths of other filesystems.
_OF_ARCHIVES = (
    _Shown("pread.neg-pos", 1, [["pread", -1, 1, 0, 1]]),
    _Shown("read-byte.value", 0, [["seek", 7], ["read_byte"]]),
    _Shown("open.read-fails", 1, [], _built(file="foreign")),
    _Shown("open.get-ioerror", 0, [], _built(file="missing")),
    _Shown("open.missing", 0, [], {"at": {"kind": "missing"}}),
)
#: Programs, and the options of their target: a FileContext opens some of the files.
_CONTEXT = {"api": "filecontext"}
_CLASSES = (
    *((shown, {}) for shown in _PROGRAMS),
    *((shown, _CONTEXT) for shown in _PROGRAMS if "open." not in shown.clause),
    *((shown, _CONTEXT) for shown in _PROGRAMS if shown.clause in ("open.directory",)),
    *((shown, {"filesystem": "har"}) for shown in _OF_ARCHIVES),
)
_PREAD: list[Any] = ["pread", 0, 4, 0, 4]
_SEEK = {"length": 9, "streams": 1, "steps": [["seek", -1]]}
#: A filesystem whose positioned reads seek, and are not synchronized.
_RACY = """
import java.io.IOException;
import org.apache.hadoop.fs.*;

public class Racy extends RawLocalFileSystem {
  public FSDataInputStream open(Path path, int size) throws IOException {
    FSDataInputStream in = super.open(path, size);
    return new FSDataInputStream(new FSInputStream() {
      public int read() throws IOException { return in.read(); }
      public void seek(long position) throws IOException { in.seek(position); }
      public long getPos() throws IOException { return in.getPos(); }
      public boolean seekToNewSource(long position) { return false; }
      public void close() throws IOException { in.close(); }
      public int read(long position, byte[] buffer, int offset, int length)
          throws IOException {
        in.seek(position);
        Thread.yield();
        return in.read(buffer, offset, length);
      }
    });
  }
}
"""
#: A filesystem that opens missing files as empty ones, finds no names with "%", refuses a status
#: of another directory, accepts negative positions, says that too many bytes are available, and
#: leaves a descriptor of each stream open.
_WRONG = """
import java.io.*;
import java.util.*;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.*;
import org.apache.hadoop.fs.impl.OpenFileParameters;

public class Wrong extends RawLocalFileSystem {
  static final List<Object> KEPT = new ArrayList<>();

  protected CompletableFuture<FSDataInputStream> openFileWithOptions(
      Path path, OpenFileParameters parameters) throws IOException {
    FileStatus status = parameters.getStatus();
    if (status != null && !status.getPath().equals(makeQualified(path))) {
      throw new IllegalArgumentException("a status of another path");
    }
    return super.openFileWithOptions(path, parameters);
  }

  public FSDataInputStream open(Path path, int size) throws IOException {
    KEPT.add(new FileInputStream("/dev/null"));
    if (path.getName().contains("%")) throw new FileNotFoundException("decoded");
    FSDataInputStream in = super.open(exists(path) ? path : new Path("/dev/null"), size);
    return new FSDataInputStream(new FSInputStream() {
      public int read() throws IOException { return in.read(); }
      public void seek(long position) throws IOException { in.seek(Math.max(position, 0)); }
      public long getPos() throws IOException { return in.getPos(); }
      public boolean seekToNewSource(long position) { return false; }
      public int available() { return 295; }
      public void close() throws IOException { in.close(); }
    });
  }
}
"""
#: A program of each kind of class, which fails on that filesystem only.
_KINDS = {
    "calls": _Shown("seek.negative", 0, [["seek", -1]]),
    "number": _Shown("available.bounds", 0, [["skip", 9], ["available"]]),
    "open": _Shown("open.name", 0, [], {"at": {"kind": "named", "name": "a%20b"}}),
    "builder": _Shown("open.get-ioerror", 0, [], _built(file="missing")),
    "status": _Shown(
        "open.status-filename-only", 0, [], _built(["with_file_status", "parents", None])
    ),
    "path": _Shown("open.missing", 0, [], {"at": {"kind": "missing"}}),
    "descriptors": _Shown("close.release", 0, [["read_byte"], ["close"]]),
}
#: The names of JUnit 5 that tests use; PySpark brings no JUnit.
_JUNIT = {
    "api/Test.java": "public @interface Test {}",
    "api/Assertions.java": """public class Assertions {
  public static void assertTrue(boolean condition, String message) {
    if (!condition) throw new AssertionError(message);
  }
}""",
}


@pytest.fixture(scope="module")
def hadoop() -> Binding:
    """Return a binding that is not prepared: a script needs no files of it."""
    return resolve_target("hadoop", {})


def _class(
    hadoop: Binding,
    shown: _Shown = _PROGRAMS[0],
    junit: bool = False,
    options: Mapping[str, str] | None = None,
    hangs: bool = False,
    intermittent: bool = False,
    versions: dict[str, str] | None = None,
) -> str:
    data = {"length": 300, "streams": 1, "steps": shown.steps, **shown.more}
    features = load_profile(hadoop.default_profile).as_observed({}).features
    failure = Failure(
        shown.clause,
        Program.from_json(data),
        features,
        4096,
        versions or {},
        hangs=hangs,
        intermittent=intermittent,
    )
    return java_script(hadoop, Source("hadoop", options or {}), failure, junit)


def _threads_class(hadoop: Binding, *threads: list[Any], **options: str) -> str:
    steps = tuple(tuple(Step.from_json(step) for step in thread) for thread in threads)
    features = load_profile(hadoop.default_profile).as_observed({}).features
    data = Program(300, ())
    failure = Failure("pread.serializable", data, features, 4096, {}, threads=steps)
    return java_script(hadoop, Source("hadoop", options), failure, junit=False)


#: Without the second compiler, which optimises what runs for minutes.
_QUICK = "-XX:TieredStopAtLevel=1"


def _run(directory: Path, statements: list[str], word: str) -> list[str]:
    """Compile all classes of a directory, run statements, and return the lines with the word."""
    main = "\n".join(
        ["public static void main(String[] args) throws Exception {", *statements, "}"]
    )
    (directory / "All.java").write_text(f"public class All {{ {main} }}")
    limits: dict[str, Any] = {"capture_output": True, "text": True, "timeout": DEADLOCK}
    classpath = os.pathsep.join([str(directory), *map(str, hadoop_jars())])
    sources = map(str, directory.rglob("*.java"))
    compiled = subprocess.run(
        ["javac", f"-J{_QUICK}", "-cp", classpath, "-d", str(directory), *sources],
        check=False,
        **limits,
    )
    assert compiled.returncode == 0, compiled.stderr
    java = ["java", _QUICK, f"-Djava.io.tmpdir={directory}", "-cp", classpath, "All"]
    ran = subprocess.run(java, check=False, **limits)
    found = [line for line in ran.stdout.splitlines() if word in line]
    assert len(found) == len(statements), ran.stdout + ran.stderr
    return found


@needs_javac
def test_class_fails_on_a_finding_and_passes_on_right_calls(
    hadoop: Binding, tmp_path: Path
) -> None:
    """All are compiled at once, and run in one JVM, whose exits are replaced by a print."""
    calls = []
    for number, (shown, options) in enumerate(_CLASSES):
        text = _class(hadoop, shown, options=options)
        assert len(text.splitlines()) <= 40
        _write_class(tmp_path, f"R{number}", text)
        calls.append(f"R{number}.main(args);")
    expected = [f"R{number} exits {shown.code}" for number, (shown, _) in enumerate(_CLASSES)]
    assert _run(tmp_path, calls, " exits ") == expected


@pytest.mark.parametrize(
    ("release", "method"), [("3.3.5", "must"), ("3.3.6", "mustLong"), ("3.5.0", "mustLong")]
)
def test_class_calls_the_methods_that_the_release_of_hadoop_has(
    hadoop: Binding, release: str, method: str
) -> None:
    shown = _Shown("open.std-recognised", 0, [["read_byte"]], _built(["must_long", _SIZE, 4096]))
    assert f'.{method}("{_SIZE}", 4096L)' in " ".join(
        _class(hadoop, shown, versions={"hadoop": release}).split()
    )


def test_class_of_an_example_that_reads_accepts_no_refusal(hadoop: Binding) -> None:
    """A filesystem may refuse the value of a key that is its own, but not that of the example."""
    program = clauses()["open.std-mixed"].examples[0].program
    own_key = frozenset({"fs.s3a.readahead.range"})
    failure = Failure("open.std-mixed", program, frozenset(), 4096, {}, own_key)
    text = java_script(hadoop, Source("hadoop"), failure, junit=False)
    assert "expected read returns 255, actual: " in text
    failure = replace(failure, program=replace(program, steps=()))
    assert "expected build raises" in java_script(hadoop, Source("hadoop"), failure, junit=False)


@needs_javac
def test_each_kind_of_class_fails_on_a_wrong_filesystem_and_passes_on_the_right_one(
    hadoop: Binding, tmp_path: Path
) -> None:
    (tmp_path / "Wrong.java").write_text(_WRONG)
    calls, expected = [], []
    for kind, shown in _KINDS.items():
        text = _class(hadoop, shown, options={"fs.file.impl": "Wrong"})
        assert 'configuration.set("fs.file.impl", "Wrong");' in text
        right = text.replace('"Wrong"', '"org.apache.hadoop.fs.RawLocalFileSystem"')
        for name, code, one in ((f"{kind}1", 1, text), (f"{kind}0", 0, right)):
            _write_class(tmp_path, name, one)
            calls.append(f"{name}.main(args);")
            expected.append(f"{name} exits {code}")
    assert _run(tmp_path, calls, " exits ") == expected


@needs_javac
def test_class_of_a_cost_compares_the_counters_with_the_budget(
    hadoop: Binding, tmp_path: Path
) -> None:
    """The local stream counts the bytes of its buffer as returned."""
    features = load_profile(hadoop.default_profile).features
    for name, clause in (("R0", "open.cost-unread"), ("R1", "open.statistics")):
        cost = clauses()[clause].cost
        assert cost is not None
        failure = Failure(clause, cost_program(cost, None), features, 4096, {})
        _write_class(tmp_path, name, java_script(hadoop, Source("hadoop"), failure, junit=False))
    calls = ["R0.main(args);", "R1.main(args);"]
    assert _run(tmp_path, calls, " exits ") == ["R0 exits 0", "R1 exits 1"]


def _write_class(directory: Path, name: str, text: str) -> None:
    """Write a class, whose exits are replaced by a print."""
    text = text.replace("class Reproduction", f"class {name}").replace("-script", f"-script{name}")
    text = text.replace("har:/tmp/fscontract", f"har:{directory}/{name}")
    exits = f"  static int code = -1; static void exits(int code) {{ if ({name}.code < 0) {{"
    exits += f' System.out.println("{name} exits " + code); {name}.code = code; }} }}'
    text = text.replace("System.exit(", "exits(").rstrip()[:-1]
    (directory / f"{name}.java").write_text(f"{text}{exits}\n}}\n")


@needs_javac
def test_class_of_threads_fails_on_a_race_and_passes_without(
    hadoop: Binding, tmp_path: Path
) -> None:
    """Positioned reads of the wrong filesystem move a stream that all threads share."""
    (tmp_path / "Racy.java").write_text(_RACY)
    calls = []
    for name, options in (("Wrong", {"fs.file.impl": "Racy"}), ("Right", {})):
        text = _threads_class(hadoop, [_PREAD], [["pread", 9, 4, 0, 4]], **options)
        _write_class(tmp_path, name, text.replace("tries < 10000", "tries < 2000"))
        calls.append(f"{name}.main(args);")
    cause = "for (Throwable c = e; c != null; c = c.getCause()) System.out.println(c);"
    calls[0] = f"try {{ {calls[0]} }} catch (Exception e) {{ {cause} }}"
    raised, ended = _run(tmp_path, calls, "s ")
    assert raised.startswith("java.lang.AssertionError: actual: 4 bytes at ")
    assert ended == "Right exits 0"


def test_threads_that_move_the_stream_have_no_class(hadoop: Binding) -> None:
    with pytest.raises(NoScript, match="the result depends on the order"):
        _threads_class(hadoop, [_PREAD], [["read_byte"]])


@pytest.mark.parametrize("kind", ["directory", "empty-directory"])
def test_directories_of_archives_have_no_class(hadoop: Binding, kind: str) -> None:
    shown = _Shown("open.directory", 0, [], {"at": {"kind": kind}})
    with pytest.raises(NoScript, match="no directory can be made"):
        _class(hadoop, shown, options={"filesystem": "har"})


_PREADS = [["pread", at, at + 2, 0, at + 2] for at in (0, 3, 9)]


@pytest.mark.parametrize(
    ("threads", "rows"),
    [
        ([_PREADS, _PREADS[::-1], _PREADS[:1]], "{0, 2}, {3, 5}, {9, 11}, {9, 11}"),
        ([_PREADS[:1], [["read_fully", 9, 6, 1, 4]]], "{0, 2, 0, 2, 0}, {9, 6, 1, 4, 1}"),
    ],
    ids=["one call", "two calls"],
)
@pytest.mark.parametrize("filesystem", ["raw", "har"])
def test_classes_of_threads_have_a_table_of_their_reads_and_40_lines(
    hadoop: Binding, threads: list[Any], rows: str, filesystem: str
) -> None:
    lines = _threads_class(hadoop, *threads, filesystem=filesystem).splitlines()
    assert 36 <= len(lines) <= 40
    assert max(map(len, lines)) <= 100
    assert rows in "\n".join(lines)


def test_class_that_is_too_long_says_so(hadoop: Binding) -> None:
    calls = [[["pread", at, at, 0, at] for at in range(1, 90)], [["read_fully", 9, 4, 0, 4]]]
    with pytest.raises(NoScript, match="lines, more than 40"):
        _threads_class(hadoop, *calls)


def test_class_of_viewfs_mounts_a_directory(hadoop: Binding) -> None:
    failure = Failure("seek.negative", Program.from_json(_SEEK), frozenset(), 4096, {})
    text = java_script(hadoop, Source("hadoop+viewfs:///d"), failure, junit=False)
    assert 'configuration.set(\n        "fs.viewfs.mounttable.default.link./mounted",' in text
    assert 'new Path("/mounted/read-by-script")' in text


@pytest.mark.deep
@needs_javac
def test_junit_tests_compile_and_fail_on_findings(hadoop: Binding, tmp_path: Path) -> None:
    """They are compiled with the names of JUnit that they use, and run without its engine."""
    package = tmp_path / "org" / "junit" / "jupiter"
    (package / "api").mkdir(parents=True)
    for name, text in _JUNIT.items():
        (package / name).write_text(f"package org.junit.jupiter.api;\n{text}\n")
    calls = []
    for number, shown in enumerate(_PROGRAMS):
        text = _class(hadoop, shown, junit=True)
        text = text.replace("class ReproductionTest", f"class T{number}")
        (tmp_path / f"T{number}.java").write_text(text.replace("-script", f"-script{number}"))
        method = text.partition("  void ")[2].partition("(")[0]
        calls.append(
            f'try {{ new T{number}().{method}(); System.out.println("{number} ends 0"); }}'
            f' catch (Throwable e) {{ System.out.println("{number} ends 1" + e); }}'
        )
    found = _run(tmp_path, calls, " ends ")
    for line, shown in zip(found, _PROGRAMS, strict=True):
        failed = "java.lang.AssertionError: expected" in line
        assert failed == (shown.code == 1), line


def _java(directory: Path, text: str) -> subprocess.CompletedProcess[str]:
    """Run a class from its source."""
    path = directory / "Reproduction.java"
    path.write_text(text)
    classpath = os.pathsep.join(map(str, hadoop_jars()))
    command = ["java", _QUICK, f"-Djava.io.tmpdir={directory}", "-cp", classpath, str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLOCK, check=False)


@needs_javac
def test_class_of_a_call_that_hangs_ends_with_1(hadoop: Binding, tmp_path: Path) -> None:
    text = _class(hadoop, _Shown("close.no-raise", 1, [["close"]]), hangs=True)
    hanging = text.replace("(30, ", "(1, ").replace("in.close();", "Thread.sleep(60_000);")
    for one, code in ((hanging, 1), (text, 0)):
        ran = _java(tmp_path, one)
        assert ran.returncode == code, ran.stderr
        assert "ends within 30 s" in ran.stdout


@pytest.mark.parametrize(("steps", "code"), [(["skip", 2000], 1), (["skip", 200], 0)])
def test_class_of_an_intermittent_failure_repeats_its_calls_until_it_comes(
    hadoop: Binding, tmp_path: Path, steps: list[Any], code: int
) -> None:
    text = _class(hadoop, _Shown("skip.count", code, [steps]), intermittent=True)
    assert len(text.splitlines()) <= 40
    ran = _java(tmp_path, text)
    assert ran.returncode == code, ran.stderr
    assert ran.stdout.count("actual: ") == 1


def test_junit_test_of_an_intermittent_failure_asserts_each_run(hadoop: Binding) -> None:
    text = _class(hadoop, _Shown("skip.count", 1, [["skip", 2000]]), True, intermittent=True)
    assert text.index("for (int run") < text.index("assertTrue(")
    assert "System.exit(" not in text


def test_class_of_a_call_that_hangs_makes_all_calls_whether_they_raise_or_not(
    hadoop: Binding,
) -> None:
    steps: list[Any] = [["seek", -1], *[["read_byte"]] * 5, ["read_fully", 0, 4, 0, 4], ["close"]]
    text = _class(hadoop, _Shown("close.no-raise", 1, steps), hangs=True)
    assert text.index("in.seek(-1);") < text.index("// it may raise") < text.index("in.read();")
    assert text.index("in.close();") < text.index("System.exit(0);")


def test_class_of_available_that_hangs_makes_the_call_once(hadoop: Binding) -> None:
    text = _class(hadoop, _Shown("available.positive", 1, [["available"]]), hangs=True)
    assert "in.available();" in text
    assert "for (int run" not in text
    assert "right" not in text


def test_failure_after_a_call_that_must_raise_has_a_class_if_it_is_one_anyway(
    hadoop: Binding,
) -> None:
    text = _class(hadoop, _Shown("getpos.value", 1, [["seek", -1], ["get_pos"]]))
    assert text.index("in.seek(-1);") < text.index("// it may raise") < text.index("in.getPos();")
    with pytest.raises(NoScript, match="if an earlier one does not raise"):
        _class(hadoop, _Shown("getpos.value", 1, [["seek", -1], ["read_byte"]]))


def test_junit_test_of_a_call_that_hangs_has_a_timeout(hadoop: Binding) -> None:
    text = _class(hadoop, _Shown("close.no-raise", 1, [["close"]]), junit=True, hangs=True)
    assert "  @Test\n  @Timeout(30)\n  void closeNoRaise()" in text


def test_junit_test_asserts_and_takes_its_uri_from_a_property(hadoop: Binding) -> None:
    text = _class(hadoop, junit=True)
    assert "import org.junit.jupiter.api.*;" in text
    assert "@Test\n  void preadEof() throws Exception {" in text
    assert 'System.getProperty("uri", "file:///")' in text
    assert (
        'Assertions.assertTrue(right, "expected returns -1, the end, actual: " + actual);' in text
    )


def test_secret_options_come_from_environment_variables(hadoop: Binding) -> None:
    text = _class(hadoop, options={"fs.x.secret.key": "hunter2-is-secret"})
    assert "hunter2" not in text
    assert 'configuration.set("fs.x.secret.key", System.getenv("FS_X_SECRET_KEY"));' in text


def test_file_context_opens_the_file_that_a_filesystem_writes(hadoop: Binding) -> None:
    text = _class(hadoop, options=_CONTEXT)
    created = "java.net.URI.create(uri), configuration"
    assert f"FileContext fs = FileContext.getFileContext({created});" in text
    assert "try (FSDataOutputStream out = files.create(path, true)) {" in text
    assert "fs.open(path)" in text


def _class_of_url(hadoop: Binding, url: str, file: str, content: Path) -> str:
    return _class_of(hadoop, Source(f"hadoop+{url}", {}, file, content if file else None))


def _class_of(hadoop: Binding, source: Source) -> str:
    features = load_profile(hadoop.default_profile).as_observed({}).features
    program = Program.from_json({"length": 9, "streams": 1, "steps": [["read_byte"]]})
    failure = Failure("read-byte.value", program, features, 4096, {})
    return java_script(hadoop, source, failure, junit=False)


def test_class_of_s3a_opens_the_bucket_with_the_options_that_are_no_secrets(
    hadoop: Binding,
) -> None:
    options = {"bucket": "mine", "fs.s3a.retry.limit": "2", "fs.s3a.secret.key": "hunter2"}
    text = _class_of(hadoop, Source("s3a", options))
    assert '"s3a://mine/"' in text
    assert 'configuration.set("fs.s3a.retry.limit", "2");' in text
    assert "hunter2" not in text
    assert "getenv" in text


def test_only_file_of_a_target_is_read_and_not_written(hadoop: Binding, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    text = _class_of_url(hadoop, "http://127.0.0.1:8080/d/", "file", copy)
    assert 'Path path = new Path("/d/file");' in text
    read = f'java.nio.file.Files.readAllBytes(java.nio.file.Path.of("{copy}"))'
    assert read in "".join(text.split())
    assert "create(path" not in text
    assert "deleteOnExit" not in text


def test_url_with_a_password_comes_from_an_environment_variable(
    hadoop: Binding, tmp_path: Path
) -> None:
    text = _class_of_url(hadoop, "ftp://me:hunter2@127.0.0.1:21/", "", tmp_path)
    assert "hunter2" not in text
    assert '? args[0] : System.getenv("TARGET_URL");' in text


@pytest.mark.parametrize(
    ("shown", "reason"),
    [
        (
            _Shown("open.missing", 0, [], _built(["with_file_status", "located", None])),
            "a status of another class",
        ),
        (_Shown("open.get-ioerror", 0, [], _built(file="late")), "the scene late"),
        (_Shown("seek.pos", 0, [["seek", 1]], _built()), "calls of the stream"),
        (_Shown("open.empty-path", 0, [], {"at": {"kind": "empty-path"}}), "is empty"),
    ],
)
def test_programs_without_a_class_say_why(hadoop: Binding, shown: _Shown, reason: str) -> None:
    with pytest.raises(NoScript, match=reason):
        _class(hadoop, shown)


@pytest.mark.parametrize(
    ("mark", "condition"),
    [("limit", "buffer.limit() == 4"), ("position", "buffer.position() == 1 + n")],
)
def test_a_class_compares_the_position_or_limit_of_a_byte_buffer(
    hadoop: Binding, mark: str, condition: str
) -> None:
    data = {"length": 9, "streams": 1, "steps": [["read_buffer", 6, 1, 4]]}
    features = frozenset({"supports-bytebuffer-read"})
    failure = Failure(f"bytebuffer.{mark}", Program.from_json(data), features, 4096, {})
    text = java_script(hadoop, Source("hadoop", {}), failure, junit=False)
    assert condition in text
    assert 'actual + ", " + buffer)' in text


def test_a_class_waits_for_no_future_where_the_call_must_raise(hadoop: Binding) -> None:
    steps = [["read_vectored", [[0, 2]], "null", "absent"]]
    assert "getData" not in _class(hadoop, _Shown("read-vectored.null-allocate", 0, steps))


def test_short_options_share_a_statement_and_an_option_replaces_one_that_is_set_before(
    hadoop: Binding,
) -> None:
    options = {"fs.file.impl": "Mine", "fs.a": "1", "fs.b": "2", "fs.long": "x" * 50}
    text = _class(hadoop, options=options)
    several = '"fs.file.impl", "Mine", "fs.a", "1", "fs.b", "2"'
    assert f"    Map.of({several}).forEach(configuration::set);\n" in text
    assert f'    configuration.set("fs.long", "{"x" * 50}");\n' in text
    assert "RawLocalFileSystem" not in text


def test_a_class_of_a_configuration_has_at_most_40_lines(hadoop: Binding) -> None:
    shown = _Shown("bytebuffer.data", 1, [["skip", 3], ["read_buffer", 6, 1, 4]])
    options = {f"fs.mine.{name}": "x" for name in "abcdefghijkl"}
    assert 35 < len(_class(hadoop, shown, options=options).splitlines()) <= 40
