"""Tests of the search for Hadoop's libraries."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fscontract.contract.binding import TargetError
from fscontract.implementations.jvm.jvm import hadoop_jars, s3a_jars, version_of

_FOLDERS = {hadoop_jars: "jars", s3a_jars: "jars/libs"}
_MAKERS = pytest.mark.parametrize("jars", list(_FOLDERS), ids=lambda f: f.__name__)
_Jars = Callable[[], tuple[Path, ...]]


def test_hadoop_jars_come_from_pyspark() -> None:
    """With Parquet and the compiler of the bridge."""
    found = hadoop_jars()
    names = ("hadoop-client-api", "hadoop-client-runtime", "janino", "parquet-hadoop")
    assert all(version_of(found, name) for name in names)


def test_paths_in_hadoop_variables_follow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Jars, directories, all jars of a directory with `*`, and the directory of core-site.xml."""
    for name in ("one.jar", "lib/b.jar", "lib/a.jar", "lib/notes.txt", "conf/core-site.xml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    entries = (tmp_path / "one.jar", "", tmp_path / "lib" / "*", tmp_path)
    monkeypatch.setenv("HADOOP_CLASSPATH", os.pathsep.join(map(str, entries)))
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path / "conf"))
    named = ("one.jar", "lib/a.jar", "lib/b.jar", "", "conf")
    assert hadoop_jars()[-5:] == tuple(tmp_path / name for name in named)


@pytest.mark.parametrize("variable", ["HADOOP_CLASSPATH", "HADOOP_CONF_DIR"])
def test_missing_path_in_a_variable_is_named(
    variable: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Hadoop would ignore it and miss a class much later."""
    monkeypatch.setenv(variable, str(tmp_path / "nothing" / "*"))
    with pytest.raises(TargetError, match=f"^{variable}: path not found: {tmp_path}/nothing$"):
        hadoop_jars()


@pytest.mark.s3a
def test_s3a_has_the_client_of_one_version_only() -> None:
    """The old client of HDFS beside it stays where it is."""
    found = s3a_jars()
    assert version_of(found, "hadoop-aws") == version_of(found, "hadoop-common") != ""
    assert version_of(found, "hadoop-hdfs") == ""


def test_a_version_is_that_of_the_jar_of_this_name() -> None:
    """Not of another that begins like it."""
    jars = (Path("a/hadoop-aws-extra-9.jar"), Path("a/hadoop-aws-3.3.3.jar"))
    assert (version_of(jars, "hadoop-aws"), version_of(jars, "hadoop")) == ("3.3.3", "")


@_MAKERS
def test_missing_package_error_has_an_install_hint(
    jars: _Jars, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one line."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(TargetError, match=r"^Hadoop's jars .* ?\(?pip install '\S+'"):
        jars()


def test_without_pyspark_jars_come_from_hadoop_variables(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A distribution first, then the class path, which may contain Hadoop alone."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    monkeypatch.delenv("HADOOP_CLASSPATH", raising=False)
    monkeypatch.setenv("HADOOP_HOME", str(tmp_path))
    with pytest.raises(TargetError, match=r"in HADOOP_HOME, .* or in HADOOP_CLASSPATH$"):
        hadoop_jars()
    names = ("client/hadoop-client-api-3.4.1.jar", "common/hadoop-common-3.4.1.jar", "mine.jar")
    common, mine = tmp_path / "share" / "hadoop", tmp_path / "mine.jar"
    for path in (*(common / name for name in names[:2]), mine):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.setenv("HADOOP_CLASSPATH", str(mine))
    assert hadoop_jars() == (*(common / name for name in names[:2]), mine)
    monkeypatch.delenv("HADOOP_HOME")
    monkeypatch.setenv("HADOOP_CLASSPATH", str(common / "common" / "*"))
    assert hadoop_jars() == (common / names[1],)
    monkeypatch.setenv("HADOOP_HOME", str(tmp_path / "none"))
    with pytest.raises(TargetError, match=f"^HADOOP_HOME: path not found: {tmp_path}/none$"):
        hadoop_jars()


@_MAKERS
def test_directory_without_hadoop_is_rejected(
    jars: _Jars, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The message names the directory."""
    folder = tmp_path / _FOLDERS[jars]
    folder.mkdir(parents=True)
    (folder / "commons-io-2.8.0.jar").touch()
    spec = importlib.machinery.ModuleSpec("any", None, is_package=True)
    assert spec.submodule_search_locations is not None
    spec.submodule_search_locations.append(str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: spec)
    with pytest.raises(TargetError, match=f"^no hadoop-.* jar in {folder}$"):
        jars()
