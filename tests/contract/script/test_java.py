"""Failures as Java classes with `main`, and as JUnit tests."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fscontract.contract.binding import Binding
from fscontract.contract.program.program import Program
from fscontract.contract.script.calls import NoScript, Source
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.java import java_script
from fscontract.contract.spec.profiles import load_profile
from fscontract.contract.targets import resolve_target
from fscontract.implementations.jvm.jvm import hadoop_jars
from tests.limits import DEADLOCK

pytest.importorskip("jpype")
pytest.importorskip("pyspark")
needs_javac = pytest.mark.skipif(shutil.which("javac") is None, reason="needs a JDK")

#: Programs with the exit code of their class on Hadoop's raw local filesystem: 1 for findings.
_PROGRAMS: dict[str, tuple[int, list[Any]]] = {
    "pread.eof": (1, [["pread", 2**63 - 1, 1, 0, 1]]),
    "skip.count": (1, [["skip", 2000]]),
    "read-byte.value": (0, [["seek", 7], ["read_byte"]]),
    "read-into.data": (0, [["read_into", 4, 1, 2]]),
    "read-fully.data": (0, [["read_fully", 1, 4, 1, 2]]),
    "read-vectored.data": (0, [["read_vectored", [[0, 2], [2, 3]], "heap", "absent"]]),
    "bytebuffer.data": (0, [["read_buffer", 8, 2, 6]]),
    "seek.negative": (0, [["seek", -1]]),
    "getpos.value": (0, [["seek", 3], ["get_pos"]]),
    "read-byte.closed": (0, [["close"], ["read_byte"]]),
}


@pytest.fixture(scope="module")
def hadoop() -> Binding:
    """Return a binding that is not prepared: a script needs no files of it."""
    return resolve_target("hadoop", {})


def _class(
    hadoop: Binding, clause: str, junit: bool = False, options: Mapping[str, str] | None = None
) -> str:
    steps = _PROGRAMS[clause][1]
    program = Program.from_json({"length": 300, "streams": 1, "steps": steps})
    features = load_profile(hadoop.default_profile).as_observed({}).features
    return java_script(
        hadoop, Source("hadoop", options or {}), Failure(clause, program, features, 4096, {}), junit
    )


@needs_javac
def test_class_fails_on_a_finding_and_passes_on_right_calls(
    hadoop: Binding, tmp_path: Path
) -> None:
    """All are compiled at once, and run in one JVM, whose exits are replaced by a print."""
    calls = []
    for number, clause in enumerate(_PROGRAMS):
        text = _class(hadoop, clause).replace("class Reproduction", f"class R{number}")
        text = text.replace("System.exit(", "exits(")
        exits = f'  static void exits(int code) {{ System.out.println("{clause} exits " + code); }}'
        (tmp_path / f"R{number}.java").write_text(f"{text.rstrip()[:-1]}{exits}\n}}\n")
        calls.append(f"R{number}.main(args);")
    main = "public class All { public static void main(String[] args) {" + "".join(calls) + "}}"
    (tmp_path / "All.java").write_text(main)
    jars = os.pathsep.join(map(str, hadoop_jars()))
    sources = [str(path) for path in tmp_path.glob("*.java")]
    limits: dict[str, Any] = {"capture_output": True, "text": True, "timeout": DEADLOCK}
    compiled = subprocess.run(
        ["javac", "-cp", jars, "-d", tmp_path, *sources], check=False, **limits
    )
    assert compiled.returncode == 0, compiled.stderr
    classpath = os.pathsep.join([str(tmp_path), jars])
    ran = subprocess.run(["java", "-cp", classpath, "All"], check=False, **limits)
    expected = [f"{clause} exits {code}" for clause, (code, _) in _PROGRAMS.items()]
    found = [line for line in ran.stdout.splitlines() if " exits " in line]
    assert found == expected, ran.stdout + ran.stderr


def test_junit_test_asserts_and_takes_its_uri_from_a_property(hadoop: Binding) -> None:
    text = _class(hadoop, "pread.eof", junit=True)
    assert "import org.junit.jupiter.api.Test;" in text
    assert "@Test\n  void preadEof() throws Exception {" in text
    assert 'System.getProperty("uri", "file:///")' in text
    assert 'assertTrue(right, "expected returns -1, the end, got " + actual);' in text


def test_secret_options_come_from_environment_variables(hadoop: Binding) -> None:
    text = _class(hadoop, "pread.eof", options={"fs.x.secret.key": "hunter2-is-secret"})
    assert "hunter2" not in text
    assert 'configuration.set("fs.x.secret.key", System.getenv("FS_X_SECRET_KEY"));' in text


def test_file_context_has_no_class(hadoop: Binding) -> None:
    with pytest.raises(NoScript, match="a FileContext opens the file"):
        _class(hadoop, "pread.eof", options={"api": "filecontext"})
