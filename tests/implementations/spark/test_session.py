"""Tests that sessions are quiet, local, and leave nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import pytest

from fscontract.contract.binding import TargetError
from fscontract.implementations.jvm.jvm import Java
from fscontract.implementations.spark.session import (
    _last_line,
    java_home,
    keep_messages,
    make_home,
    new_folder,
)
from tests.implementations.spark.conftest import Program

#: 127.0.0.1 in the kernel's tables, also for IPv6 sockets.
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


def test_a_session_leaves_nothing(run_program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """No process, file, variable or output is left; another session can follow."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setenv("TMPDIR", folder)
        found = run_program("quiet.py")
    assert found["running"]
    assert set(found.pop("addresses")) <= LOOPBACK
    assert found.pop("java") == ["red", True]  # the user's option, added to those of the session
    assert found == {
        "colour": "green",
        "python": sys.executable,
        "told": False,
        "running": True,
        "second": "this process has a Spark session already: use it, or stop it first",
        "left": [],
        "changed": False,
        "again": 10,
        "said": ["AnalysisException", "[PATH_NOT_FOUND"],
        "files": [],
        "stderr": "",
    }


def test_files_of_a_killed_process_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next session removes it, but not the directories of running sessions or other files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("fscontract-spark-unknown", "other"):
        (tmp_path / name).mkdir()
    code = "import os; from fscontract.implementations.spark.session import new_folder as new; "
    done = subprocess.run(
        [sys.executable, "-c", code + "print(new()[0], flush=True); os.kill(os.getpid(), 9)"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    killed = Path(done.stdout.strip())
    assert killed.is_dir()
    first, descriptor = new_folder()
    second, other = new_folder()
    names = {p.name for p in tmp_path.iterdir()}
    assert names == {first.name, second.name, "fscontract-spark-unknown", "other"}
    os.close(descriptor)
    os.close(other)


def _runtime(folder: Path, modules: str) -> Java:
    """Return a fake Java that lists its modules, or prints its arguments."""
    command = folder / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text(
        f'#!/bin/sh\n[ "$1" = --list-modules ] && echo {modules} && exit\nprintf "%s|" "$@"\n'
    )
    command.chmod(0o755)
    return Java(folder, 17, "test")


def test_java_with_the_module_is_used_directly(tmp_path: Path) -> None:
    java = _runtime(tmp_path / "jdk", "jdk.incubator.vector@17")
    assert java_home(java, tmp_path / "home") == java.home


def test_java_without_the_module_gets_no_argument_for_it(tmp_path: Path) -> None:
    """All other arguments are passed unchanged."""
    java = _runtime(tmp_path / "a jdk", "java.base@21")
    home = java_home(java, tmp_path / "home")
    arguments = ["-cp", "a b:c", "--add-modules=jdk.incubator.vector", "-Dx=*", ""]
    said = subprocess.run([home / "bin" / "java", *arguments], capture_output=True, check=True)
    assert said.stdout == b"-cp|a b:c|-Dx=*||"


def test_java_that_fails_to_run_raises_one_line(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="can't run Java"):
        java_home(Java(tmp_path, 17, "test"), tmp_path / "home")


def test_failed_start_message_has_no_java_trace(tmp_path: Path) -> None:
    log = tmp_path / "stderr"
    log.write_text("Picked up something\n")
    error = ValueError("It failed.\n: java.lang.Strange: why\n\tat some.Class(X)\n\t... 3 more\n")
    assert _last_line(log, error) == "java.lang.Strange: why"
    assert _last_line(log, ValueError("")) == "ValueError"


def test_home_links_to_the_files_of_pyspark(tmp_path: Path) -> None:
    """As links: nothing is written to the installed packages."""
    variables = make_home(tmp_path)
    home = Path(variables["SPARK_HOME"])
    assert (home / "bin" / "spark-submit").is_file()
    files = [Path(folder, name) for folder, _, names in os.walk(home) for name in names]
    assert all(file.is_symlink() for file in files)


def test_workers_import_pyspark_from_files_that_are_compiled(spark: Any) -> None:
    """They would compile the modules of an archive at each start."""

    def imported(_: int) -> list[bool]:
        import py4j
        import pyspark

        return [os.path.isfile(module.__cached__) for module in (py4j, pyspark)]

    assert spark.sparkContext.parallelize([0], 1).map(imported).collect() == [[True, True]]


#: Methods called on an exception after the JVM has ended.
ASKED = ("getCondition", "getSqlState", "getMessageParameters", "getMessage", "getErrorClass")


def _without_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the JVM from PySpark, as after the end of a session."""
    from pyspark import SparkContext

    monkeypatch.setattr(SparkContext, "_jvm", None)
    monkeypatch.setattr(SparkContext, "_gateway", None)


def _analysis_error(spark: Any) -> Any:
    from pyspark.errors import AnalysisException

    with pytest.raises(AnalysisException) as caught:
        spark.sql("select nothing from range(3)")
    return caught.value


def test_an_exception_without_its_machine_cannot_be_printed(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PySpark's current behaviour; when this test fails, `keep_messages` is obsolete."""
    error = _analysis_error(spark)
    _without_machine(monkeypatch)
    with pytest.raises(AssertionError):
        str(error)


@pytest.mark.filterwarnings("ignore:Deprecated:FutureWarning")
def test_kept_exception_has_the_same_message(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.errors import AnalysisException

    error = _analysis_error(spark)
    cls, before = type(error), str(error)
    asked = [getattr(error, name)() for name in ASKED]
    fragment = error.getQueryContext()[0].fragment()
    keep_messages(error)
    _without_machine(monkeypatch)
    assert "`nothing`" in before
    assert str(error) == before
    assert [getattr(error, name)() for name in ASKED] == asked
    assert error.getQueryContext()[0].fragment() == fragment == "nothing"
    assert isinstance(error, AnalysisException)
    assert (type(error).__name__, type(error).__module__) == (cls.__name__, cls.__module__)
    assert traceback.format_exception_only(error)[0].startswith(f"{cls.__module__}.Analysis")


def test_causes_contexts_and_py4j_errors_are_kept(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from py4j.protocol import Py4JJavaError

    with pytest.raises(Py4JJavaError) as caught:
        spark.sparkContext._jvm.java.lang.Class.forName("nothing")
    outer = ValueError("outer")
    outer.__cause__, outer.__context__ = caught.value, _analysis_error(spark)
    caught.value.__context__ = outer  # a circle
    keep_messages(outer)
    _without_machine(monkeypatch)
    monkeypatch.setattr(caught.value.java_exception, "_gateway_client", None)
    assert "ClassNotFoundException" in str(caught.value)
    assert "`nothing`" in str(outer.__context__)


def test_exception_of_a_dead_jvm_keeps_its_description(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = _analysis_error(spark)
    _without_machine(monkeypatch)
    keep_messages(error)
    assert "`nothing`" in str(error)
