"""One Java machine in a process."""

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
    """Whoever needs the machine starts it."""
    before = java("java.lang.System").identityHashCode(java("java.lang.Runtime").getRuntime())
    jvm.start(hadoop_jars())
    after = java("java.lang.System").identityHashCode(java("java.lang.Runtime").getRuntime())
    assert (jvm.is_running(), before) == (True, after)


def test_other_libraries_are_refused_with_a_way_out() -> None:
    """There is no second machine in a process."""
    with pytest.raises(TargetError, match=r"with other libraries: .*leave --no-isolate out"):
        jvm.start(hadoop_jars()[1:])


def _said(code: str) -> str:
    """The message of the TargetError that this code raises in a process of its own."""
    script = (
        "from fscontract.contract.binding import TargetError\n"
        "from fscontract.implementations.jvm import jvm\n"
        f"try:\n    {code}\nexcept TargetError as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300
    )
    return done.stdout.strip()


def test_without_jpype_it_says_what_to_install() -> None:
    """In one line."""
    said = _said("import sys; sys.modules['jpype'] = None; jvm.start(())")
    assert said == snapshot(
        "Java streams need the module 'jpype'; pip install 'fscontract[hadoop]'"
    )


def test_a_bridge_needs_hadoop_and_janino() -> None:
    """A machine that somebody has started without them is of no use."""
    said = _said(
        "from fscontract.implementations.jvm.conversions import shim_class; "
        "jvm.start(()); shim_class('Lanes')"
    )
    assert said.startswith(
        "the Java machine of this process lacks Janino, or Hadoop 3.3.5 or newer"
    )
    assert "\n" not in said
