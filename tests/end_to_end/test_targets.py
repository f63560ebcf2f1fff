"""`fscontract check` on each kind of target."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from inline_snapshot import snapshot

from fscontract.contract.program.content import content
from tests.end_to_end.conftest import Command

#: Clauses that a run judges in a second or two.
FEW = "seek.pos,seek.negative,read-byte.value,read-into.data,getpos.value"


def test_local_directory_passes_and_is_empty_again(check: Command, target: Path) -> None:
    ended = check(f"file://{target}", "--clauses", FEW)
    assert ended.code == 0, ended.stdout
    assert set(ended.outcomes().values()) == {"pass"}
    assert ended.report["conforms"]
    assert ended.report["binding"] == "fsspec"


def test_check_keeps_other_files_of_the_directory(check: Command, tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(b"x")
    assert check(f"file://{tmp_path}", "--clauses", "seek.negative").code == 0
    assert (tmp_path / "mine").read_bytes() == b"x"
    assert not list(tmp_path.glob("fscontract-*"))


def test_violation_exits_1_and_shows_its_program(check: Command) -> None:
    """Files in fsspec's memory can't be closed (F2)."""
    ended = check("memory://x", "--clauses", "close.state,seek.negative")
    assert ended.code == 1
    assert ended.outcomes() == {"close.state": "fail", "seek.negative": "pass"}
    assert ["close"] in ended.programs()["close.state"]
    assert "FAIL  close.state" in ended.stdout


@pytest.mark.parametrize("cache", ["simplecache", "filecache"])
def test_cache_before_a_local_directory_removes_its_files(
    cache: str, check: Command, target: Path
) -> None:
    ended = check(f"{cache}::file://{target}", "--clauses", "seek.negative,read-fully.data")
    assert ended.outcomes() == {"seek.negative": "pass", "read-fully.data": "fail"}
    assert "AttributeError" in ended.stdout


def test_member_of_an_archive_is_checked_with_its_content(
    check: Command, archive: Path, copy: Path
) -> None:
    ended = check(
        *(f"zip://::file://{archive}", "--file", "in/it", "--content", str(copy)),
        *("--clauses", "seek.negative,read-byte.value"),
    )
    assert ended.code == 1
    assert ended.outcomes() == {"seek.negative": "fail", "read-byte.value": "pass"}
    assert ended.programs()["seek.negative"] == [["seek", -1]]


def test_callable_in_a_file_is_a_target(check: Command, place: Path, target: Path) -> None:
    source = f"""
        from fsspec.implementations.dirfs import DirFileSystem
        from fsspec.implementations.local import LocalFileSystem

        def make():
            return DirFileSystem({str(target)!r}, LocalFileSystem())
        """
    (place / "mine.py").write_text(dedent(source))
    assert check("./mine.py:make", "--clauses", FEW).code == 0


def test_callable_in_a_package_is_a_target(check: Command, place: Path) -> None:
    (place / "mypkg").mkdir()
    (place / "mypkg" / "__init__.py").touch()
    source = "from fsspec.implementations.local import LocalFileSystem as make\n"
    (place / "mypkg" / "mod.py").write_text(source)
    assert check("mypkg.mod:make", "-o", "auto_mkdir=true", "--clauses", FEW).code == 0


@pytest.mark.all_programs
@pytest.mark.parametrize(
    ("opened", "verdict"),
    [
        ("open(path, 'rb')", "pass"),
        ("open(path, 'rb', buffering=0)", "fail"),
        ("io.BytesIO(open(path, 'rb', buffering=0).read())", "pass"),
    ],
)
def test_files_of_a_function_are_a_target(
    opened: str, verdict: str, check: Command, place: Path, target: Path
) -> None:
    """CPython's raw files forget that they are seekable (C1)."""
    source = f"""
        import io
        from fscontract.implementations.bindings.python_file import PythonFileBinding

        def make():
            return PythonFileBinding(lambda path: {opened}, {str(target)!r}, "mine")
        """
    (place / "mine.py").write_text(dedent(source))
    ended = check("./mine.py:make", "--clauses", "python.seekable.true,python.read.data")
    assert ended.outcomes() == {"python.seekable.true": verdict, "python.read.data": "pass"}
    assert ended.code == (verdict == "fail")


def test_web_server_with_ranges_fails_pread_at_the_end(
    check: Command, ranges: str, copy: Path
) -> None:
    args = "--file", "file", "--content", str(copy)
    ended = check(ranges, *args, "--clauses", "pread.data,pread.eof,seek.pos")
    assert ended.code == 1
    outcomes = {"pread.data": "pass", "pread.eof": "fail", "seek.pos": "pass"}
    assert ended.outcomes() == outcomes
    ((call, position, *rest),) = ended.programs()["pread.eof"]
    assert (call, rest) == ("pread", [1, 0, 1])
    assert position in ("len", copy.stat().st_size)


def test_web_server_without_ranges_fails_every_seek(
    check: Command, no_ranges: str, copy: Path
) -> None:
    args = "--file", f"{no_ranges}file", "--content", str(copy)
    chosen = "--clauses", "pread.count,seek.pos,read-byte.value", "--budget", "10"
    ended = check(no_ranges, *args, *chosen)
    assert ended.code == 1
    outcomes = {"read-byte.value": "pass", "seek.pos": "fail", "pread.count": "fail"}
    assert ended.outcomes() == outcomes


def test_runs_with_the_same_seed_have_the_same_verdicts_and_programs(
    check: Command, archive: Path, copy: Path
) -> None:
    args = f"zip://::file://{archive}", "--file", "in/it", "--content", str(copy)
    first, second = (check(*args, "--seed", "7", "--clauses", "seek.negative") for _ in range(2))
    assert first.outcomes() == second.outcomes()
    assert first.programs() == second.programs()


def test_several_targets_give_a_list_and_the_worst_exit_code(check: Command, target: Path) -> None:
    ended = check(f"file://{target}", "memory://x", "--clauses", "close.state")
    assert ended.code == 1
    assert [one["conforms"] for one in ended.report] == [True, False]


def test_known_violation_passes_until_it_is_fixed(check: Command, place: Path) -> None:
    known = """
        known:
          - clause: python.writable.false
            reason: files in memory are for writing too
            signature: "py_writable: returned"
        """
    (place / "known.yaml").write_text(dedent(known))
    args = "--known", "known.yaml", "--clauses", "python.writable.false"
    assert check("memory://x", *args).outcomes() == {"python.writable.false": "known"}
    ended = check("memory", *args)
    assert (ended.code, ended.outcomes()) == (1, {"python.writable.false": "fixed"})


def test_content_of_another_length_is_refused(check: Command, archive: Path, copy: Path) -> None:
    copy.write_bytes(content(10))
    args = "--file", "in/it", "--content", str(copy)
    ended = check(f"zip://::file://{archive}", *args)
    assert ended.code == 3
    assert ended.mistake().rpartition(": ")[2] == snapshot(
        "the file has 9000 bytes, but --content has 10"
    )


_OF_ONE_THREAD = """
import sqlite3
import time
from fscontract import MemoryFileSystem, MemoryInputStream

def make():
    connection = sqlite3.connect(":memory:")
    class Stream(MemoryInputStream):
        def seek(self, position):
            connection.execute("select 1")
            while position < 0:
                time.sleep(1)
            super().seek(position)
    return MemoryFileSystem(stream_class=Stream)
"""


def test_hang_of_a_target_of_one_thread_ends_the_process_and_not_the_run(
    check: Command, place: Path
) -> None:
    (place / "lite.py").write_text(_OF_ONE_THREAD)
    (place / "one.yaml").write_text("name: one\ntitle: One\nextends: reference\nthreads: one\n")
    chosen = ("--profile", "one.yaml", "--timeout", "1", "--clauses", "seek.negative,getpos")
    ended = check("lite.py:make", *chosen)
    assert ended.code == 1
    assert ended.outcomes()["seek.negative"] == "hang"
    assert ended.outcomes()["getpos.closed"] == "pass"
