"""Where Hadoop's libraries are found."""

from __future__ import annotations

import importlib.machinery
import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from fscontract.contract.binding import TargetError
from fscontract.implementations.jvm.jars import hadoop_jars, s3a_jars, version_of

_FOLDERS = {hadoop_jars: "jars", s3a_jars: "jars/libs"}
_MAKERS = pytest.mark.parametrize("jars", list(_FOLDERS), ids=lambda f: f.__name__)
_Jars = Callable[[], tuple[Path, ...]]


def test_hadoop_is_that_of_pyspark() -> None:
    """With Parquet and the compiler of the bridge."""
    found = hadoop_jars()
    names = ("hadoop-client-api", "hadoop-client-runtime", "janino", "parquet-hadoop")
    assert all(version_of(found, name) for name in names)


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
def test_without_the_package_it_says_what_to_install(
    jars: _Jars, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one line."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(TargetError, match=r"^Hadoop's jars are those of \w+: pip install \S+$"):
        jars()


@_MAKERS
def test_a_folder_without_hadoop_is_refused(
    jars: _Jars, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is named, because it is not what it should be."""
    folder = tmp_path / _FOLDERS[jars]
    folder.mkdir(parents=True)
    (folder / "commons-io-2.8.0.jar").touch()
    spec = importlib.machinery.ModuleSpec("any", None, is_package=True)
    assert spec.submodule_search_locations is not None
    spec.submodule_search_locations.append(str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: spec)
    with pytest.raises(TargetError, match=f"^{folder} holds no hadoop-.* jar$"):
        jars()
