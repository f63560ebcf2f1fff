"""Tests that any exception or value of Java classes becomes an outcome or a TargetError."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fscontract.contract.program.open_calls import STATUSES, Opening
from fscontract.contract.program.outcome import Kind
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.sandbox import SandboxedBinding
from fscontract.contract.spec.profiles import load_profile
from fscontract.implementations.bindings.hadoop.binding import HadoopBinding
from fscontract.implementations.bindings.hadoop.conversions import java as bridge
from fscontract.implementations.bindings.hadoop.conversions import outcome_of
from fscontract.implementations.bindings.hadoop.local_files import (
    DiskStore,
    HadoopStore,
    LocalHadoopLocation,
)
from fscontract.implementations.jvm import jvm
from tests.implementations.bindings.injection import live

#: Exceptions thrown by the call; "null" means that it returns null.
THROWN = (
    "faulty.OddException",
    pytest.param("null", marks=pytest.mark.deep),
    pytest.param("java.lang.StackOverflowError", marks=pytest.mark.deep),
    pytest.param("java.lang.NoSuchMethodError", marks=pytest.mark.deep),
    pytest.param("java.lang.ExceptionInInitializerError", marks=pytest.mark.deep),
    pytest.param("java.lang.UnsupportedOperationException", marks=pytest.mark.deep),
)
#: Minimum number of calls that the binding makes.
_FEWEST = 60


@pytest.fixture(scope="module")
def faulty(java: Callable[[str], Any]) -> Callable[[str], Any]:
    """Compiled classes of the folder java."""
    folder = Path(__file__).with_name("java")
    parent = java("org.apache.hadoop.fs.FileSystem").class_.getClassLoader()
    loader = java("org.codehaus.janino.JavaSourceClassLoader")(
        parent, [java("java.io.File")(str(folder))], "UTF-8"
    )
    return lambda name: jvm.java_class(loader.loadClass(f"faulty.{name}"))


def _binding(java: Callable[[str], Any], faulty: Callable[[str], Any], root: Path) -> HadoopBinding:
    filesystem = faulty("FaultyFileSystem")(java("org.apache.hadoop.conf.Configuration")())
    store = HadoopStore(filesystem, bridge(), str(root))
    return HadoopBinding(LocalHadoopLocation(filesystem, store, "hadoop"), "faulty")


@pytest.mark.parametrize("thrown", THROWN)
def test_failing_call_gives_an_outcome_or_target_error(
    thrown: str, java: Callable[[str], Any], faulty: Callable[[str], Any], tmp_path: Path
) -> None:
    """Each call of the binding, or of Hadoop on its behalf, fails in turn."""
    calls, number = faulty("Calls"), 0
    make = faulty("OddException") if thrown.startswith("faulty.") else None
    if thrown != "null" and make is None:
        make = java(thrown)
    while calls.count() >= number:
        number += 1
        binding = _binding(java, faulty, tmp_path)
        calls.set(number, None if make is None else make())
        live(binding)
    assert number > _FEWEST


@pytest.mark.parametrize("kind", STATUSES)
def test_a_filesystem_whose_statuses_lead_elsewhere_gets_a_verdict(
    kind: str, java: Callable[[str], Any], faulty: Callable[[str], Any], tmp_path: Path
) -> None:
    """The owner of RawLocalFileSystem's statuses can't be queried then."""
    filesystem = faulty("ElsewhereFileSystem")(java("org.apache.hadoop.conf.Configuration")())
    store = DiskStore(tmp_path, str(tmp_path))
    binding = HadoopBinding(LocalHadoopLocation(filesystem, store, "hadoop-raw"), "elsewhere")
    binding.prepare()
    opening = Opening("file", (("with_file_status", kind, None),))
    executor = Executor(SandboxedBinding(binding, 10), load_profile("hadoop-raw").features, 4096)
    execution = executor.run(Program(20, (Step("read_byte"),), opening=opening), trace=True)
    assert execution.violation is None
    assert [step.op for step, _, _ in execution.trace][-1] == "read_byte"


def test_an_exception_none_of_whose_methods_works_is_an_outcome(
    faulty: Callable[[str], Any],
) -> None:
    """The outcome has the class name."""
    outcome = outcome_of(faulty("OddException")())
    assert (outcome.kind, outcome.detail) == (Kind.OTHER, "faulty.OddException")


def test_a_java_machine_without_hadoop_has_made_no_filesystem(
    java: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Objects of other kinds are left to other bindings."""
    import jpype

    def find(name: str) -> Any:
        raise TypeError(f"Class {name} is not found")

    monkeypatch.setattr(jpype, "JClass", find)
    assert HadoopBinding.recognise(object(), "mine") is None
