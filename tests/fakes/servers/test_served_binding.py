"""Tests of `check --server-faults`: clients of a server that misbehaves."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from fscontract.contract.binding import TargetError
from fscontract.contract.generate import fault_programs
from fscontract.contract.program.server_faults import HTTP, S3, kinds_at
from fscontract.contract.runner.replay import replay
from fscontract.contract.runner.result import RunResult, Verdict
from fscontract.contract.runner.run_options import RunOptions, resolve, selected, settings_for
from fscontract.contract.runner.runner import check
from fscontract.contract.spec.profiles import load_profile
from fscontract.contract.targets import UsageError, resolve_target
from tests.fakes.servers.own_client import OURS


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(fault_programs.SERVER_PROGRAMS, "quick", 2)


def checked(target: str, options: dict[str, str], *clauses: str) -> RunResult:
    run = RunOptions(clauses=clauses, options=options, server_faults=True)
    binding = resolve(target, run)
    return check(binding, settings_for(binding, run, selected(run)))


#: A read of two bytes, and one of the whole file.
RANGE, WHOLE = ("pread", 3, 2, 0, 2), ("fs_cat_file", None, None)


def replayed(
    target: str, options: dict[str, str], kind: str, step: tuple[object, ...] = RANGE
) -> str:
    """Return the outcome of one read while the server misbehaves."""
    faults = [{"kind": kind, "nth": 1, "times": "all"}]
    program = {"length": 9, "faults": faults, "steps": [[*step]], "streams": 1}
    data = {"fscontract-replay": 1, "clause": f"server.{kind}", "program": program}
    binding = resolve_target(target, options, served=True)
    return replay(binding, data, load_profile(binding.default_profile)).outcome


def test_client_that_takes_any_bytes_for_a_range_is_found() -> None:
    result = checked("http://{host}/", {}, "server.omit-content-range")
    assert [c.outcome for c in result.clauses] == [Verdict.FAIL]
    assert result.target == "http://{host}/ as a client"
    assert result.exit_code == 1


def test_failure_is_replayed_on_a_new_server() -> None:
    before = threading.active_count()
    assert replayed("http://{host}/", {}, "shift-ranges") == "still fails"
    assert replayed("http://{host}/", {}, "drip-bodies") == "passes now"
    for kind in ("shift-ranges", "omit-content-range", "gzip-bodies"):
        assert replayed("s3", OURS, kind) == "passes now"
    assert threading.active_count() <= before + 1, "the thread of fsspec's loop may be new"


def test_callable_gets_the_server_in_its_options(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "import fsspec\n"
        "def make(url):\n"
        "    assert url.startswith('http://127.0.0.1:')\n"
        "    return fsspec.filesystem('http', skip_instance_cache=True)\n"
    )
    own = f"{tmp_path}/own.py:make"
    assert replayed(own, {"url": "{url}"}, "ignore-ranges") == "still fails"


def test_paths_of_a_client_may_begin_at_the_url_of_the_server(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from fsspec import AbstractFileSystem, filesystem\n"
        "class Own(AbstractFileSystem):\n"
        "    cachable = False\n"
        "    def __init__(self, url):\n"
        "        super().__init__(url=url)\n"
        "        self.url, self.http = url, filesystem('http', skip_instance_cache=True)\n"
        "    def info(self, path, **options):\n"
        "        return self.http.info(f'{self.url}/{path}')\n"
        "    def cat_file(self, path, start=None, end=None, **options):\n"
        "        return self.http.cat_file(f'{self.url}/{path}', start, end)\n"
        "    def _open(self, path, mode='rb', **options):\n"
        "        return self.http.open(f'{self.url}/{path}', mode)\n"
    )
    own = f"{tmp_path}/own.py:Own"
    assert replayed(own, {"url": "{url}"}, "shift-ranges") == "still fails"
    assert replayed(own, {"url": "{url}"}, "drip-bodies") == "passes now"


def test_files_are_read_in_one_call_while_the_server_misbehaves(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from urllib.request import urlopen\n"
        "from fsspec.implementations.http import HTTPFileSystem\n"
        "class Own(HTTPFileSystem):\n"
        "    def cat_file(self, path, start=None, end=None, **options):\n"
        "        if start is not None or end is not None:\n"
        "            return super().cat_file(path, start, end, **options)\n"
        "        with urlopen(path) as response:\n"
        "            return response.read()\n"
        "def make(url):\n"
        "    return Own(skip_instance_cache=True)\n"
    )
    own = f"{tmp_path}/own.py:make"
    assert replayed(own, {"url": "{url}"}, "gzip-bodies", WHOLE) == "still fails"
    assert replayed(own, {"url": "{url}"}, "gzip-bodies") == "passes now"
    assert replayed(own, {"url": "{url}"}, "drip-bodies", WHOLE) == "passes now"
    assert replayed("http://{host}/", {}, "gzip-bodies", WHOLE) == "passes now"


def test_kind_of_the_server_follows_from_the_placeholders() -> None:
    for target, options, place in (("http://{host}/", {}, HTTP), ("s3", OURS, S3)):
        binding = resolve_target(target, options, served=True)
        assert binding.injector is not None
        assert binding.injector.kinds == kinds_at(place)
        binding.dispose()


def test_target_must_name_the_server() -> None:
    with pytest.raises(UsageError, match=r"must name the server by \{url\} or \{host\} or"):
        resolve_target("http://example.org/", {}, served=True)
    with pytest.raises(UsageError, match="can't be combined with --faults"):
        resolve_target("http://{host}/", {}, faulty=True, served=True)


def test_server_ends_if_the_client_cannot_be_made(tmp_path: Path) -> None:
    before = threading.active_count()
    with pytest.raises(TargetError):
        resolve_target("nosuch://{host}/", {}, served=True)
    with pytest.raises(UsageError, match="unknown target"):
        resolve_target("nosuch", OURS, served=True)
    assert threading.active_count() == before
    assert os.environ.get("AWS_ENDPOINT_URL_S3") is None


@pytest.mark.parametrize("transport", ["obstore", "boto3"])
def test_own_s3_client_returns_no_compressed_bytes(transport: str) -> None:
    """A body that has more bytes than its range, of a range that is read in one piece."""
    assert replayed("s3", {**OURS, "transport": transport}, "gzip-bodies") == "passes now"
