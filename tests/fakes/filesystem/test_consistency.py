"""Visibility of changes under weak consistency."""

from __future__ import annotations

import math
from posixpath import dirname

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fscontract.contract.api.errors import (
    FileNotFoundException,
    IllegalArgumentException,
    RemoteFileChangedException,
)
from fscontract.fakes.filesystem.filesystem import FakeFileSystem
from fscontract.fakes.filesystem.requests import Latency
from fscontract.fakes.filesystem.tree import Consistency

from .support import names, read

FREE = Latency(0, 0)


def late(**seconds: float) -> FakeFileSystem:
    """An empty filesystem of weakened consistency, whose requests take no time."""
    return FakeFileSystem(consistency=Consistency(**seconds), latency=FREE)


class TestListing:
    def test_a_new_file_is_listed_late(self) -> None:
        fs = late(list_after=10)
        fs.write("/d/a", b"x")
        assert names(fs, "/d") == []
        assert read(fs, "/d/a") == b"x", "who knows the path can read it"
        fs.clock.advance(9.9)
        assert names(fs, "/d") == []
        fs.clock.advance(0.1)
        assert names(fs, "/d") == ["/d/a"]

    def test_an_overwritten_file_is_listed_as_it_was(self) -> None:
        fs = late(list_after=10)
        fs.write("/a", b"old")
        fs.clock.advance(10)
        fs.write("/a", b"longer")
        assert [s.length for s in fs.list_status("/")] == [3]
        assert fs.get_file_status("/a").length == 6
        fs.clock.advance(10)
        assert [s.length for s in fs.list_status("/")] == [6]

    def test_a_deleted_file_is_listed_for_a_while(self) -> None:
        fs = late(delete_after=10)
        fs.write("/a", b"x")
        fs.delete("/a")
        assert names(fs) == ["/a"]
        with pytest.raises(FileNotFoundException):
            fs.open("/a")
        fs.clock.advance(10)
        assert names(fs) == []

    def test_a_renamed_directory_leaves_its_files_behind_and_takes_none_along(self) -> None:
        """As in stores that copy and delete: why committing by rename loses files."""
        fs = late(list_after=10, delete_after=5)
        fs.write("/d/a", b"x")
        fs.mkdirs("/e")
        fs.clock.advance(10)
        fs.rename("/d/a", "/e/a")
        assert (names(fs, "/d"), names(fs, "/e")) == (["/d/a"], [])
        fs.clock.advance(5)
        assert (names(fs, "/d"), names(fs, "/e")) == ([], [])
        fs.clock.advance(5)
        assert (names(fs, "/d"), names(fs, "/e")) == ([], ["/e/a"])

    def test_a_file_that_came_and_went_is_never_listed(self) -> None:
        fs = late(list_after=10)
        fs.write("/a", b"x")
        fs.clock.advance(1)
        fs.delete("/a")
        for _ in range(12):
            assert names(fs) == []
            fs.clock.advance(1)

    def test_a_directory_where_a_file_was_is_listed(self) -> None:
        fs = late(delete_after=10, read_after=10)
        fs.write("/a", b"x")
        fs.delete("/a")
        fs.mkdirs("/a")
        assert [s.is_directory for s in fs.list_status("/")] == [True]
        assert fs.get_file_status("/a").is_directory


class TestReading:
    def test_a_new_file_is_found_late(self) -> None:
        fs = late(read_after=10)
        fs.write("/a", b"x")
        assert names(fs) == ["/a"], "listed, and yet not there"
        for look in (fs.open, fs.get_file_status):
            with pytest.raises(FileNotFoundException):
                look("/a")
        fs.clock.advance(10)
        assert read(fs, "/a") == b"x"

    def test_an_overwritten_file_is_read_as_it_was(self) -> None:
        fs = late(read_after=10)
        fs.write("/a", b"old")
        fs.clock.advance(10)
        fs.write("/a", b"longer")
        assert (read(fs, "/a"), fs.get_file_status("/a").length) == (b"old", 3)
        with fs.open("/a", buffer_size=0) as stream:
            assert stream.read_byte() == ord("o")
            fs.clock.advance(10)
            with pytest.raises(RemoteFileChangedException):
                stream.read_byte()
        assert read(fs, "/a") == b"longer"

    def test_a_deleted_file_can_be_read_for_a_while(self) -> None:
        fs = late(read_after=10)
        fs.write("/a", b"x")
        fs.clock.advance(10)
        fs.delete("/a")
        assert read(fs, "/a") == b"x"
        fs.clock.advance(10)
        with pytest.raises(FileNotFoundException):
            read(fs, "/a")

    def test_changes_act_on_what_is_there(self) -> None:
        fs = late(read_after=10, list_after=10, delete_after=10)
        fs.write("/a", b"x")
        fs.rename("/a", "/b")
        assert fs.delete("/a") is False
        assert fs.delete("/b") is True

    def test_requests_let_time_pass(self) -> None:
        """A reader that tries again sees the change in the end."""
        fs = FakeFileSystem(consistency=Consistency(read_after=1), latency=Latency(0.3, 0))
        fs.write("/a", b"x")
        for _ in range(4):
            with pytest.raises(FileNotFoundException):
                fs.get_file_status("/a")
        assert fs.get_file_status("/a").length == 1


@pytest.mark.parametrize("seconds", [-1, math.inf, math.nan])
def test_windows_end(seconds: float) -> None:
    """A change that never becomes visible is not allowed."""
    with pytest.raises(IllegalArgumentException, match="list_after"):
        Consistency(list_after=seconds)


FILES = st.sampled_from(["/a", "/b", "/d/a", "/d/b", "/d/e/a", "/e"])
STEPS = st.one_of(
    st.tuples(st.just("write"), FILES),
    st.tuples(st.just("delete"), FILES),
    st.tuples(st.just("remove"), st.sampled_from(["/d", "/d/e", "/a"])),
    st.tuples(st.just("mkdirs"), st.sampled_from(["/d", "/f/g", "/a"])),
    st.tuples(st.just("rename"), st.tuples(FILES | st.just("/d"), FILES | st.just("/f/h"))),
    st.tuples(st.just("advance"), st.integers(0, 8)),
)
#: Paths with the content of files, None for directories.
Model = dict[str, bytes | None]


def parents(path: str) -> list[str]:
    """The directories above a path, the root not counted."""
    parts = path.split("/")[1:-1]
    return ["/" + "/".join(parts[: i + 1]) for i in range(len(parts))]


def below(model: Model, path: str) -> list[str]:
    """A path and all below it that is there."""
    return [p for p in model if p == path or p.startswith(path + "/")]


def make(model: Model, path: str, data: bytes | None) -> bool:
    """Put a file or a directory there; False if something is in the way."""
    way = [*parents(path), *([path] if data is None else [])]
    if any(model.get(p) is not None for p in way):
        return False
    if data is not None and path in model and model[path] is None:
        return False
    model.update(dict.fromkeys(way))
    if data is not None:
        model[path] = data
    return True


def expect(model: Model, step: str, argument: object, data: bytes) -> bool:
    """Do a step to the model; False if it fails."""
    if step == "rename":
        assert isinstance(argument, tuple)
        source, target = argument
        moved = below(model, source)
        into_itself = target.startswith(source + "/") and model.get(source, b"") is None
        if not moved or target in model or into_itself:
            return False
        if any(model.get(p) is not None for p in parents(target)):
            return False
        values = {target + p[len(source) :]: model.pop(p) for p in moved}
        model.update(dict.fromkeys(parents(target)))
        model.update(values)
        return True
    path = str(argument)
    if step in ("write", "mkdirs"):
        return make(model, path, data if step == "write" else None)
    gone = below(model, path)
    if step == "delete" and len(gone) > 1:
        return False
    for p in gone:
        del model[p]
    return True


def do(fs: FakeFileSystem, step: str, argument: object, data: bytes) -> bool:
    """Do a step to the filesystem, by its requests; False if it fails."""
    try:
        if step == "write":
            with fs.create(str(argument)) as file:
                file.write(data)
        elif step == "rename":
            assert isinstance(argument, tuple)
            fs.rename(*argument)
        elif step == "mkdirs":
            fs.mkdirs(str(argument))
        else:
            fs.delete(str(argument), recursive=step == "remove")
    except OSError:
        return False
    return True


def tree(fs: FakeFileSystem, path: str = "/") -> Model:
    """All that listings show, with what is read of it."""
    found: Model = {}
    for status in fs.list_status(path):
        if status.is_directory:
            found[status.path] = None
            found.update(tree(fs, status.path))
        else:
            data = found[status.path] = read(fs, status.path)
            assert len(data) == status.length
            assert fs.get_file_status(status.path) == status
    return found


@given(st.lists(STEPS, max_size=25))
@example([("write", "/d/a"), ("rename", ("/d", "/f/h")), ("write", "/f/h/a"), ("remove", "/d")])
def test_a_consistent_tree_is_what_was_made_of_it(steps: list[tuple[str, object]]) -> None:
    """After any sequence of changes, those that fail included."""
    fs, model = FakeFileSystem(latency=FREE, block_size=2), Model()
    for number, (step, argument) in enumerate(steps):
        if step == "advance":
            continue
        data = b"x" * number
        before = dict(model)
        done = expect(model, step, argument, data)
        assert do(fs, step, argument, data) == done
        if not done:
            # Parents of what could not be put somewhere may have been made.
            made = {p: v for p, v in tree(fs).items() if p not in before}
            assert not any(made.values())
            model = {**before, **made}
        assert tree(fs) == model


@given(
    st.lists(STEPS.filter(lambda s: s[0] not in ("mkdirs", "remove")), max_size=25),
    *(st.integers(0, 6) for _ in range(3)),
)
def test_what_is_seen_was_there_within_the_window(
    steps: list[tuple[str, object]], list_after: int, delete_after: int, read_after: int
) -> None:
    """A listing or a read of weak consistency shows what was true, and not too long ago."""
    fs = late(list_after=list_after, delete_after=delete_after, read_after=read_after)
    fs.mkdirs("/d/e")
    truth: list[tuple[float, dict[str, int]]] = [(-math.inf, {})]

    def possible(window: float, path: str) -> set[int | None]:
        """The lengths that the file had within the last seconds; None for not there."""
        since = fs.clock.now - window
        old = max(i for i, (at, _) in enumerate(truth) if at <= since)
        return {files.get(path) for _, files in truth[old:]}

    for number, (step, argument) in enumerate(steps):
        if step == "advance":
            assert isinstance(argument, int)
            fs.clock.advance(argument)
        else:
            do(fs, step, argument, b"x" * (number + 1))
            truth.append((fs.clock.now, {p: len(fs._version(p).data) for p in _files(fs)}))
        directories = _directories(fs)
        shown = {s.path: s.length for d in directories for s in fs.list_status(d)}
        for path in {*shown, *(p for _, files in truth for p in files)}.difference(directories):
            if dirname(path) in directories:
                assert shown.get(path) in possible(max(list_after, delete_after), path)
                assert _length(fs, path) in possible(read_after, path)


def _files(fs: FakeFileSystem) -> list[str]:
    """The files that are really there."""
    return [path for path, _ in fs._tree._files("/")]


def _directories(fs: FakeFileSystem) -> list[str]:
    """The directories that are there, for they are always seen."""
    found = ["/"]
    for directory in found:
        found += [s.path for s in fs.list_status(directory) if s.is_directory]
    return found


def _length(fs: FakeFileSystem, path: str) -> int | None:
    try:
        return fs.get_file_status(path).length
    except FileNotFoundException:
        return None
