"""Tests of the single JVM of a process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from inline_snapshot import snapshot

from fscontract.contract.binding import TargetError
from fscontract.implementations.jvm import jvm
from fscontract.implementations.jvm.jvm import hadoop_jars


def test_starting_again_with_the_same_libraries_does_nothing(java: Callable[[str], Any]) -> None:
    """Every caller that needs the JVM starts it."""
    before = java("java.lang.System").identityHashCode(java("java.lang.Runtime").getRuntime())
    jvm.start(hadoop_jars())
    after = java("java.lang.System").identityHashCode(java("java.lang.Runtime").getRuntime())
    assert (jvm.is_running(), before) == (True, after)


def test_other_libraries_are_rejected_with_a_hint() -> None:
    """A process can't start a second JVM."""
    with pytest.raises(TargetError, match=r"with other libraries; remove --no-isolate"):
        jvm.start(hadoop_jars()[1:])


def test_short_lived_machine_does_not_optimise(java: Callable[[str], Any]) -> None:
    """That of the tests is one; each level above the first costs more than it brings."""
    beans = java("java.lang.management.ManagementFactory")
    assert "-XX:TieredStopAtLevel=1" in map(str, beans.getRuntimeMXBean().getInputArguments())


def test_other_machine_optimises() -> None:
    said = _said(
        "jvm.start(()); "
        "beans = jvm.java_class('java.lang.management.ManagementFactory'); "
        "print(*beans.getRuntimeMXBean().getInputArguments())"
    )
    assert "-XX:+UseSerialGC" in said
    assert "TieredStopAtLevel" not in said


def _said(code: str) -> str:
    """Return what `code` prints in a new process, or the message of the TargetError it raises."""
    script = (
        "from fscontract.contract.binding import TargetError\n"
        "from fscontract.implementations.jvm import jvm\n"
        f"try:\n    {code}\nexcept TargetError as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300
    )
    return done.stdout.strip()


def test_missing_jpype_error_has_an_install_hint() -> None:
    """In one line."""
    said = _said("import sys; sys.modules['jpype'] = None; jvm.start(())")
    assert said == snapshot(
        "Java streams require the module 'jpype'; pip install 'fscontract[hadoop]'"
    )


def test_a_bridge_needs_hadoop_and_janino() -> None:
    """A JVM that was started without them can't be used."""
    said = _said(
        "from fscontract.implementations.jvm.bridge import shim_class; "
        "jvm.start(()); shim_class('Lanes')"
    )
    assert said.startswith("the JVM of this process lacks Janino, or Hadoop 3.3.5 or newer")
    assert "\n" not in said
