"""Tests of URLs and options of Hadoop filesystems."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from fscontract.contract.binding import TargetError
from fscontract.contract.targets import UsageError, resolve_target
from fscontract.implementations.bindings.hadoop.binding import HadoopBinding
from fscontract.implementations.bindings.hadoop.locations import configuration
from tests.limits import DEADLOCK

from .conftest import Make


def test_options_go_into_the_configuration(make: Make) -> None:
    """Unchanged, with Hadoop's names."""
    binding = make("raw", **{"io.file.buffer.size": "64"})
    assert int(binding.location.at("").getConf().getInt("io.file.buffer.size", 0)) == 64


def test_unset_options_keep_hadoop_defaults(make: Make) -> None:
    """For example, the buffer has Hadoop's default size."""
    conf = make("raw").location.at("").getConf()
    assert str(conf.get("io.file.buffer.size")) == "4096"
    assert configuration({"a.b": "c"}).get("a.b") == "c"


def test_unknown_api_is_rejected(tmp_path: Path) -> None:
    """Other values are rejected immediately."""
    with pytest.raises(
        UsageError, match="invalid value for api: 'x'; expected filesystem or filecontext"
    ):
        HadoopBinding.from_url(f"raw://{tmp_path}", {"api": "x"})


def test_a_local_directory_has_no_host() -> None:
    """Two slashes instead of three are a common mistake."""
    with pytest.raises(UsageError, match="expected hadoop\\+raw:///directory"):
        HadoopBinding.from_url("raw://tmp", {})


def test_a_scheme_that_hadoop_does_not_know_is_one_line() -> None:
    """The message is Hadoop's, without user and password."""
    with pytest.raises(TargetError) as caught:
        HadoopBinding.from_url("nosuch://me:secret99@host/d", {})
    assert str(caught.value) == (
        snapshot(
            "hadoop+nosuch://host/d: can't be opened by Hadoop: "
            'UnsupportedFileSystemException: No FileSystem for scheme "nosuch"'
        )
    )


@pytest.mark.parametrize("scheme", ["raw", "file", "viewfs", "har"])
def test_the_named_target_is_in_a_temporary_directory(scheme: str) -> None:
    """Option `filesystem` selects the filesystem."""
    binding = resolve_target("hadoop", {"filesystem": scheme})
    binding.prepare()
    path = binding.create(b"abc")
    assert (binding.name, binding.status_length(path)) == ("hadoop", 3)
    binding.dispose()


def test_the_named_target_knows_its_filesystems() -> None:
    """Others require URLs."""
    with pytest.raises(
        TargetError,
        match="invalid value for filesystem: 's3'; expected raw or file or viewfs or har",
    ):
        resolve_target("hadoop", {"filesystem": "s3"})


def test_existing_file_is_read_from_read_only_target(tmp_path: Path) -> None:
    """`--file` and `--content` work with any filesystem."""
    (tmp_path / "file").write_bytes(b"abc")
    for file in ("file", f"file://{tmp_path}/file"):
        binding = HadoopBinding.from_url(
            f"raw://{tmp_path}", {}, file=file, content=tmp_path / "file"
        )
        binding.prepare()
        assert binding.create(b"abc") == f"{tmp_path}/file"
        binding.dispose()
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


_RUN = """
import sys, threading
from fscontract.contract.program.program import Step
from fscontract.contract.targets import resolve_target
from fscontract.implementations.jvm.jvm import java_class

binding = resolve_target("hadoop+file://" + sys.argv[1], {})
binding.prepare()
opened = binding.open(binding.create(b"abc"))
print(binding.bind(Step("read_byte"))(opened))
print(binding.bind(Step("seek_to_new_source", (0,)))(opened).kind)
binding.dispose()
forever = java_class("java.util.concurrent.CountDownLatch")(1)
threading.Thread(target=forever.await_, daemon=True).start()
"""


def test_a_process_is_quiet_and_ends_with_its_machine(tmp_path: Path) -> None:
    """Java and its logging print nothing, and a hanging call does not delay the exit."""
    run = subprocess.run(
        [sys.executable, "-c", _RUN, str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=DEADLOCK,
        check=False,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "returned 97\nNULL\n", "")
    assert list(tmp_path.iterdir()) == []


def test_a_connector_and_its_configuration_are_found_by_hadoops_variables(tmp_path: Path) -> None:
    """Only core-site.xml defines the scheme `own`."""
    (tmp_path / "conf").mkdir()
    site = "<configuration><property><name>fs.own.impl</name><value>{}</value></property>"
    (tmp_path / "conf" / "core-site.xml").write_text(
        site.format("org.apache.hadoop.fs.RawLocalFileSystem") + "</configuration>"
    )
    target = f"hadoop+own://{tmp_path}"
    run = subprocess.run(
        [sys.executable, "-m", "fscontract", "check", target, "--clauses", "getpos.value"],
        env={**os.environ, "HADOOP_CONF_DIR": str(tmp_path / "conf")},
        capture_output=True,
        text=True,
        timeout=DEADLOCK,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert "conforms: 1 clause holds" in run.stdout
