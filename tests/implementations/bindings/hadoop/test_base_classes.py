"""Tests of the classes of Hadoop behind a filesystem of another package, and what it inherits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from fscontract import check
from fscontract.contract.program.program import Step
from fscontract.contract.runner.result import Verdict
from fscontract.implementations.bindings.hadoop.binding import HadoopBinding
from fscontract.implementations.bindings.hadoop.conversions import java as bridge
from fscontract.implementations.bindings.hadoop.local_files import (
    DiskStore,
    LocalHadoopLocation,
    RestoringStore,
)
from fscontract.implementations.bindings.hadoop.locations import store_of
from fscontract.implementations.bindings.object_stores import Store
from fscontract.implementations.jvm import jvm
from tests.few_programs import run_few

_FS = "org.apache.hadoop.fs"
Make: TypeAlias = Callable[[str], HadoopBinding]


@pytest.fixture(scope="module")
def compiled(java: Callable[[str], Any]) -> Callable[[str], Any]:
    """Compiled classes of the folder java."""
    folder = Path(__file__).with_name("java")
    parent = java(f"{_FS}.FileSystem").class_.getClassLoader()
    loader = java("org.codehaus.janino.JavaSourceClassLoader")(
        parent, [java("java.io.File")(str(folder))], "UTF-8"
    )
    return lambda name: jvm.java_class(loader.loadClass(name))


@pytest.fixture
def over(compiled: Callable[[str], Any], java: Callable[[str], Any], tmp_path: Path) -> Make:
    """A function that binds a filesystem of a class, whose files are in this test's directory."""

    def of(name: str) -> HadoopBinding:
        filesystem = (java if name.startswith(_FS) else compiled)(name)()
        uri = java("java.net.URI").create("file:///")
        filesystem.initialize(uri, java("org.apache.hadoop.conf.Configuration")())
        store: Store = store_of(filesystem, str(tmp_path))
        if not isinstance(store, RestoringStore):
            store = DiskStore(tmp_path, str(tmp_path))  # Hadoop starts a process for each write
        return HadoopBinding(LocalHadoopLocation(filesystem, store, "hadoop-raw"), name)

    bridge()
    return of


def sources(binding: HadoopBinding) -> dict[str, frozenset[str]]:
    """Return what a binding tells of a file."""
    binding.prepare()
    try:
        return dict(binding.sources(binding.create(b"data")))
    finally:
        binding.dispose()


def test_an_empty_subclass_has_the_classes_of_its_base(over: Make) -> None:
    found = sources(over("own.EmptyFileSystem"))
    assert found["open"] == {f"{_FS}.FileSystem"}
    assert found["seek"] == {f"{_FS}.RawLocalFileSystem", f"{_FS}.BufferedFSInputStream"}


def test_a_wrapper_has_the_classes_of_the_filesystem_that_it_wraps(over: Make) -> None:
    found = sources(over("own.WrappingFileSystem"))
    raw = f"{_FS}.RawLocalFileSystem"
    assert found["open"] == {f"{_FS}.FileSystem", f"{_FS}.FilterFileSystem", raw}
    assert raw in found["seek"]


def test_a_filter_with_an_own_open_has_the_classes_that_its_open_file_calls(over: Make) -> None:
    found = sources(over("own.OpensItself"))
    assert f"{_FS}.RawLocalFileSystem" in found.pop("open")
    assert found == {}


def test_a_builder_of_hadoop_has_its_class_where_open_file_is_overridden(over: Make) -> None:
    assert f"{_FS}.FileSystem" in sources(over("own.DelegatingFileSystem"))["open"]


def test_a_stream_that_wraps_none_of_hadoop_has_no_classes(over: Make) -> None:
    assert sources(over("own.WholeFileSystem")) == {"open": {f"{_FS}.FileSystem"}}


def test_a_filesystem_of_hadoop_has_no_classes(over: Make) -> None:
    assert sources(over(f"{_FS}.RawLocalFileSystem")) == {}


def test_a_file_that_a_subclass_of_localfilesystem_moves_away_is_written_again(
    over: Make, tmp_path: Path
) -> None:
    """It takes the call for a checksum error; `bad_files` is in a directory above."""
    bad = [p / "bad_files" for p in (tmp_path, *tmp_path.parents)]
    there = {p for p in bad if p.exists()}
    binding = over("own.EmptyLocalFileSystem")
    binding.prepare()
    try:
        path = binding.create(b"data")
        opened = binding.open(path)
        binding.bind(Step("seek_to_new_source", (0,)))(opened)
        assert Path(path).read_bytes() == b"data"
    finally:
        binding.dispose()
    assert list(tmp_path.iterdir()) == []
    assert {p for p in bad if p.exists()} == there


@pytest.mark.deep
def test_a_subclass_of_localfilesystem_inherits_its_failures(
    over: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_few(monkeypatch)
    result = check(over("own.EmptyLocalFileSystem"), clauses=["new-source.*", "available.*"])
    assert {c.clause.id for c in result.clauses if c.outcome is Verdict.INHERITED} == {
        "available.bounds",
        "new-source.unsupported-raise",
    }
    assert result.conforms


@pytest.mark.deep
def test_a_wrapper_inherits_the_failures_of_hadoop(
    over: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_few(monkeypatch)
    binding = over("own.WrappingFileSystem")
    result = check(binding, clauses=["open.number-default", "pread.eof", "seek.pos"])
    outcomes = {c.clause.id: c.outcome for c in result.clauses}
    assert outcomes == {
        "open.number-default": Verdict.INHERITED,
        "pread.eof": Verdict.INHERITED,
        "seek.pos": Verdict.PASS,
    }
    assert result.conforms


@pytest.mark.deep
def test_a_failure_of_an_own_stream_is_not_inherited(
    over: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_few(monkeypatch)
    result = check(over("own.WholeFileSystem"), clauses=["open.number-default", "pread.data"])
    assert [c.outcome for c in result.clauses] == [Verdict.FAIL, Verdict.INHERITED]
