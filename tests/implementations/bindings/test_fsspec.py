"""Tests of programs on fsspec's files."""

from __future__ import annotations

import io
import os
import platform
import tempfile
import threading
import zipfile
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, ClassVar, cast

import fsspec
import pyarrow
import pytest
from fsspec import AbstractFileSystem
from fsspec.implementations.arrow import ArrowFSWrapper
from fsspec.implementations.dbfs import DatabricksException, DatabricksFileSystem
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from pyarrow import fs as arrow

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.api.filesystem import FileStatus, LocatedFileStatus
from fscontract.contract.binding import NoScene, TargetError
from fscontract.contract.program.content import content
from fscontract.contract.program.open_calls import MISNAMED, STATUSES, BuilderCall
from fscontract.contract.program.outcome import (
    FILL,
    INEXPRESSIBLE,
    IO_KINDS,
    Kind,
    Outcome,
    returned,
)
from fscontract.contract.program.program import Step
from fscontract.fakes.filesystem.filesystem import FakeFileSystem
from fscontract.implementations import memory
from fscontract.implementations.bindings import fsspec as fsspec_binding
from fscontract.implementations.bindings.common import OpenedFile
from fscontract.implementations.bindings.fsspec import FsspecBinding, FsspecOpener
from fscontract.implementations.bindings.fsspec_quirks import protocols
from fscontract.implementations.bindings.positioned_reads import bind_ranges

from .conftest import Calls


class Scripted:
    """A filesystem whose reads return or raise as the test says."""

    def __init__(self, answer: Callable[[], Any]) -> None:
        self.answer = answer

    def cat_file(self, *_: object, **__: object) -> Any:
        return self.answer()

    def cat_ranges(self, *_: object, **__: object) -> Any:
        return self.answer()

    read_block = cat_file


def at(path: Path) -> FsspecBinding:
    """Return the binding to a local directory."""
    return FsspecBinding.from_url(f"file://{path}", {})


def answered(call: tuple[object, ...], answer: Callable[[], Any]) -> Outcome:
    """Return the outcome of a positioned call with this answer of the filesystem."""
    binding = FsspecBinding(MemoryFileSystem(), "/", "scripted")
    binding.fs = Scripted(answer)
    return binding.bind(Step(str(call[0]), call[1:]))(OpenedFile(io.BytesIO(), "file"))


@pytest.mark.parametrize("where", ["file", "memory"])
def test_positioned_reads_go_through_the_filesystem(where: str, tmp_path: Path, run: Calls) -> None:
    """cat_file, read_block and cat_ranges."""
    binding = at(tmp_path) if where == "file" else FsspecBinding.from_url("memory://x", {})
    data = content(9)
    outcomes = run(
        binding,
        data,
        ("seek", 4),
        ("pread", 2, 4, 1, 3),
        ("pread", 8, 3, 0, 3),
        ("pread", 9, 1, 0, 1),
        ("pread", 2, 1, 0, 0),
        ("read_fully", 2, 4, 1, 2),
        ("read_fully_all", 0, 9),
        ("read_fully", 7, 3, 0, 3),
        ("read_vectored", ((3, 2), (8, 2), (0, 0)), "heap", "absent"),
        ("get_pos",),
    )
    fill = bytes([FILL])
    assert outcomes[:7] == [
        returned(None),
        returned(3, fill + data[2:5]),
        returned(1, data[8:] + fill * 2),
        returned(-1, fill),
        returned(0, fill),
        returned(None, fill + data[2:4] + fill),
        returned(None, data),
    ]
    assert outcomes[7].kind is Kind.EOF
    first, second, third = outcomes[8].value
    assert (first, second.kind, third) == (returned(2, data[3:5]), Kind.EOF, returned(0, b""))
    if where == "file":  # in memory, fsspec opens one object for all, so the position is shared
        assert outcomes[9] == returned(4)


@pytest.mark.parametrize(
    "call",
    [
        ("pread", -1, 2, 0, 1),
        ("pread", 0, None, 0, 1),
        ("pread", 0, 2, 0, -1),
        ("pread", 0, 2, -1, 1),
        ("pread", 0, 2, 1, 2),
        ("read_fully", -1, 2, 0, 1),
        ("read_fully", 0, 2, 2, 1),
        ("read_fully_all", 0, None),
        ("read_vectored", None, "heap", "absent"),
        ("read_vectored", (None,), "heap", "absent"),
        ("read_vectored", ((-1, 1),), "heap", "absent"),
        ("read_vectored", ((0, -1),), "heap", "absent"),
        ("read_vectored", ((0, 1),), "view", "absent"),
        ("read_vectored", ((0, 1),), "heap", "given"),
        ("read_buffer", 2, 0, None),
        ("unbuffer",),
        ("seek_to_new_source", 0),
    ],
)
def test_calls_that_fsspec_lacks_are_inexpressible(
    call: tuple[object, ...], tmp_path: Path, run: Calls
) -> None:
    """Such a call is neither a pass nor a violation."""
    assert run(at(tmp_path), b"abc", call) == [INEXPRESSIBLE]


@pytest.mark.parametrize(
    "call",
    [
        ("pread", 0, 1, 0, 1),
        ("read_fully", 0, 1, 0, 1),
        ("read_vectored", ((0, 1),), "heap", "absent"),
    ],
)
def test_the_filesystem_knows_no_closed_stream(
    call: tuple[object, ...], tmp_path: Path, run: Calls
) -> None:
    """Positioned reads do not use the stream, so it may be closed."""
    assert run(at(tmp_path), b"abc", ("close",), call)[1] == INEXPRESSIBLE


def test_too_many_bytes_are_reported() -> None:
    """A result that is too long is not truncated."""
    pread = answered(("pread", 0, 4, 0, 2), lambda: b"abc")
    assert pread == returned(3, b"ab" + bytes([FILL]) * 2)
    assert answered(("read_fully_all", 0, 2), lambda: b"abc").kind is Kind.OTHER
    vectored = ("read_vectored", ((0, 2),), "heap", "absent")
    assert answered(vectored, lambda: [b"abc"]).value[0].kind is Kind.OTHER
    assert answered(vectored, list).kind is Kind.OTHER


def test_an_exception_among_the_ranges_is_that_ranges_outcome() -> None:
    """on_error="return" puts exceptions into the list."""
    call = ("read_vectored", ((0, 1), (1, 1)), "heap", "absent")
    outcome = answered(call, lambda: [b"a", OSError("lost")])
    assert [part.kind for part in outcome.value] == [Kind.RETURNED, Kind.IO]


@pytest.mark.parametrize("name", ["ClientConnectionError", "ClientPayloadError"])
def test_unreachable_server_gives_no_verdict(name: str) -> None:
    """Clients have their own connection errors, which are not the stream's fault."""
    error = type(name, (Exception,), {"__module__": "aiohttp.client_exceptions"})("gone")
    outcome = answered(("pread", 0, 1, 0, 1), lambda: throw(error))
    reachable = name == "ClientPayloadError"
    assert outcome.kind is (Kind.OTHER if reachable else Kind.ENVIRONMENT)


def throw(error: Exception) -> None:
    """Raise in an expression."""
    raise error


def test_dispose_removes_the_prefix_and_nothing_else(tmp_path: Path) -> None:
    """Existing files remain, in memory too."""
    (tmp_path / "mine").write_bytes(b"x")
    there = MemoryFileSystem()
    there.pipe_file("/test_dispose/mine", b"x")
    for binding in (at(tmp_path), FsspecBinding(there, "/test_dispose", "memory")):
        binding.prepare()
        binding.create(b"y")
        binding.dispose()
    assert [p.name for p in tmp_path.iterdir()] == ["mine"]
    assert there.find("/test_dispose") == ["/test_dispose/mine"]
    there.rm("/test_dispose", recursive=True)


@pytest.mark.parametrize("removes", [True, False])
def test_a_filesystem_without_directories_is_emptied_file_by_file(removes: bool) -> None:
    """If it can't remove a directory, which is not there; a warning names what is left."""

    class Flat(MemoryFileSystem):  # type: ignore[misc]
        store: ClassVar[dict[str, Any]] = {}
        pseudo_dirs: ClassVar[list[str]] = [""]

        def rm(self, path: str, recursive: bool = False, maxdepth: int | None = None) -> None:
            raise KeyError(path)

        def rm_file(self, path: str) -> None:
            if not removes:
                raise PermissionError(path)
            super()._rm(path)

    there = Flat()
    binding = FsspecBinding(there, "", "flat")
    binding.prepare()
    binding.create(b"one")
    fails = pytest.raises(TargetError, match=r"can't remove .*KeyError")
    with nullcontext() if removes else fails:
        binding.dispose()
    assert bool(there.store) is not removes


def test_changes_are_made_in_place(tmp_path: Path) -> None:
    """An open local file has the new bytes; a deleted one is gone."""
    binding = at(tmp_path)
    binding.prepare()
    path = binding.create(b"old")
    opened = binding.open(path)
    binding.change(path, b"newer")
    assert binding.bind(Step("py_read", (-1,)))(opened) == returned(b"newer")
    binding.bind(Step("close"))(opened)
    assert binding.status_length(path) == 5
    binding.change(path, None)
    with pytest.raises(TargetError, match=r"\A[^\n]*can't change[^\n]*\Z"):
        binding.change(path, None)
    binding.dispose()


def test_missing_directory_is_not_created(tmp_path: Path) -> None:
    """A mistyped target is not created."""
    with pytest.raises(TargetError, match=r"\A[^\n]*directory not found\Z"):
        at(tmp_path / "no" / "such").prepare()
    assert not list(tmp_path.iterdir())


class Refusing(LocalFileSystem):  # type: ignore[misc]
    """A filesystem that can't be written."""

    cachable = False

    def pipe_file(self, *_: object, **__: object) -> None:
        raise PermissionError(13, "denied for http://me:hunter2@host/x?sig=abc")


def test_a_target_that_cant_be_written_is_one_line_without_secrets(tmp_path: Path) -> None:
    """The message has the reason without credentials; the prefix is removed."""
    binding = FsspecBinding(Refusing(), str(tmp_path), "refusing")
    with pytest.raises(TargetError, match=r"\Arefusing: can't be written: [^\n]*denied") as caught:
        binding.prepare()
    assert "hunter2" not in str(caught.value)
    assert "abc" not in str(caught.value)
    assert not list(tmp_path.iterdir())


class Buckets(MemoryFileSystem):  # type: ignore[misc]
    """An object store: its root holds buckets, which must exist."""

    def pipe_file(self, *_: object, **__: object) -> None:
        raise FileNotFoundError("The specified bucket does not exist")


def test_a_root_that_cant_be_written_names_the_wrapper_of_a_directory() -> None:
    """A callable returns the root, which is not the directory that a user has in mind."""
    message = (
        r"\Abuckets: the root can't be written; .* DirFileSystem\(path, fs\): .*bucket does not"
    )
    with pytest.raises(TargetError, match=message):
        FsspecBinding(Buckets(), "", "buckets").prepare()


@pytest.mark.parametrize(
    ("url", "options", "message"),
    [
        ("zip://::file:///x.zip", {}, "the filesystem is read-only; specify --file"),
        (
            "http://me:hunter2@localhost/d?sig=1",
            {},
            r"\Ahttp://localhost/d: the filesystem is read-only",
        ),
        ("nosuch://me:hunter2@host/", {}, r"\Anosuch://host/: can't be opened through fsspec: "),
        ("file:///", {"auto_mkdir": "{", "nosuch": "1"}, None),
    ],
)
def test_a_url_that_cant_be_used_is_one_line(
    url: str, options: dict[str, str], message: str | None
) -> None:
    """Read-only targets require an existing file; unknown protocols are reported."""
    if message is None:
        assert FsspecBinding.from_url(url, options).fs.auto_mkdir == "{"
        return
    with pytest.raises(TargetError, match=message) as caught:
        FsspecBinding.from_url(url, options)
    assert "hunter2" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_option_values_are_json_if_they_can_be() -> None:
    """The command line has only text, storage options have types."""
    assert FsspecBinding.from_url("file:///", {"auto_mkdir": "true"}).fs.auto_mkdir is True


def test_an_async_filesystem_is_rejected(tmp_path: Path) -> None:
    """The binding can't open its files."""
    fs = LocalFileSystem(skip_instance_cache=True)
    fs.asynchronous = True
    with pytest.raises(TargetError, match="asynchronous=False"):
        FsspecBinding(fs, str(tmp_path), "x").prepare()


def archive(tmp_path: Path, data: bytes) -> tuple[Path, Path]:
    """Create a zip file with the member `in/it`, and a copy of the member."""
    whole, copy = tmp_path / "a.zip", tmp_path / "copy"
    with zipfile.ZipFile(whole, "w") as made:
        made.writestr("in/it", data)
    copy.write_bytes(data)
    return whole, copy


def test_a_read_only_target_is_checked_with_a_file_it_holds(tmp_path: Path, run: Calls) -> None:
    """The file is the only one, nothing is written, and the archive is closed at the end."""
    whole, copy = archive(tmp_path, b"abcdef")
    binding = FsspecBinding.from_url(f"zip://::file://{whole}", {}, file="in/it", content=copy)
    assert binding.fixed_content == b"abcdef"
    assert not binding.changes
    outcomes = run(binding, b"abcdef", ("seek", 2), ("py_read", 2), ("pread", 1, 2, 0, 2))
    assert outcomes == [returned(None), returned(b"cd"), returned(2, b"bc")]
    with pytest.raises(TargetError, match="no file with this content"):
        binding.create(b"other")


def test_content_of_another_length_is_rejected(tmp_path: Path) -> None:
    """The local copy must be identical."""
    whole, copy = archive(tmp_path, b"abcdef")
    copy.write_bytes(b"abc")
    binding = FsspecBinding.from_url(f"zip://::file://{whole}", {}, file="in/it", content=copy)
    with pytest.raises(TargetError, match="has 6 bytes, but --content has 3"):
        binding.prepare()


def test_missing_file_is_reported(tmp_path: Path) -> None:
    """--file must name a file of the target."""
    whole, copy = archive(tmp_path, b"abcdef")
    binding = FsspecBinding.from_url(f"zip://::file://{whole}", {}, file="no", content=copy)
    with pytest.raises(TargetError, match="can't find the file"):
        binding.prepare()


def test_file_is_read_though_the_filesystem_knows_no_size(tmp_path: Path) -> None:
    """A cache over HTTP may open a file of which it has no info."""

    class Unlisted(LocalFileSystem):  # type: ignore[misc]
        def info(self, path: str, **options: Any) -> Any:
            raise FileNotFoundError(path)

    (tmp_path / "it").write_bytes(b"abc")
    FsspecBinding(Unlisted(), "", "mine", b"abc", str(tmp_path / "it")).prepare()
    with pytest.raises(TargetError, match="can't find the file"):
        FsspecBinding(Unlisted(), "", "mine", b"abc", str(tmp_path / "no")).prepare()


def test_file_and_content_go_together(tmp_path: Path) -> None:
    """Both are required."""
    with pytest.raises(TargetError, match="must be used together"):
        FsspecBinding.from_url(f"file://{tmp_path}", {}, file="x")


def test_protocol_that_contains_file_is_not_local(tmp_path: Path) -> None:
    """Files of `filecache` over another store are in that store, not below /tmp."""
    target = fsspec.filesystem(
        "filecache", target_protocol="memory", cache_storage=str(tmp_path), skip_instance_cache=True
    )
    target.protocol = "filecache"
    binding = FsspecBinding.recognise(target, "cache")
    assert isinstance(binding, FsspecBinding)
    assert binding._root == target.root_marker


def test_filesystems_of_fsspec_are_recognised(tmp_path: Path) -> None:
    """By type; a local one is used in the temporary directory."""
    assert FsspecBinding.recognise(io.BytesIO(), "x") is None
    binding = FsspecBinding.recognise(DirFileSystem(str(tmp_path), LocalFileSystem()), "dir")
    assert isinstance(binding, FsspecBinding)
    binding.prepare()
    assert len(list(tmp_path.iterdir())) == 1
    binding.dispose()
    assert isinstance(FsspecBinding.recognise(LocalFileSystem(), "local"), FsspecBinding)


@pytest.mark.parametrize(
    ("protocol", "remote"),
    [("file", False), ("memory", False), ("s3", True), (("http", "https"), True)],
)
def test_other_machines_are_remote(protocol: str | Sequence[str], remote: bool) -> None:
    """Fewer programs run if every call needs a round trip."""
    fs = type("Some", (fsspec.AbstractFileSystem,), {"protocol": protocol})()
    assert FsspecBinding(fs, "", "some").remote is remote
    assert FsspecBinding(DirFileSystem("d", fs), "", "some").remote is remote


@pytest.mark.parametrize("base", [fsspec.AbstractFileSystem, fsspec.asyn.AsyncFileSystem])
def test_a_class_without_a_protocol_is_remote_if_it_is_asynchronous(base: type) -> None:
    """As that of sshfs."""
    fs = type("Some", (base,), {})(skip_instance_cache=True)
    assert FsspecBinding(fs, "", "some").remote is (base is fsspec.asyn.AsyncFileSystem)


@pytest.mark.parametrize(
    ("base", "remote"),
    [("abstract", False), ("file", False), ("s3", True)],
)
def test_a_class_with_a_new_protocol_is_as_remote_as_its_base(base: str, remote: bool) -> None:
    """A protocol that fsspec does not list says nothing."""
    inherited = type("Base", (fsspec.AbstractFileSystem,), {"protocol": base})
    fs = type("Own", (inherited,), {"protocol": "own"})()
    assert FsspecBinding(fs, "", "own").remote is remote


@pytest.mark.parametrize(
    ("protocol", "names"),
    [
        ("a", {"a"}),
        (("a", "b"), {"a", "b"}),
        (["a"], {"a"}),
        ((), set()),
        (None, set()),
        (7, set()),
        (property(lambda _: "a"), {"a"}),
        (property(lambda self: self.none), set()),
    ],
)
def test_protocols_from_any_type_of_attribute(protocol: object, names: set[str]) -> None:
    """One name, several, or none: fsspec has both, and a property may raise."""
    fs = type("Some", (fsspec.AbstractFileSystem,), {"protocol": protocol})()
    assert protocols(fs) == names
    assert FsspecBinding(fs, "", "some").remote is False


def test_a_filesystem_that_wraps_itself_is_recognised() -> None:
    """Its attribute `fs` points to itself."""
    fs = DirFileSystem("d", LocalFileSystem())
    fs.fs = DirFileSystem("e", LocalFileSystem())
    fs.fs.fs = fs
    assert isinstance(FsspecBinding.recognise(fs, "loop"), FsspecBinding)


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_wrapper_of_an_arrow_filesystem_is_set_up(wrapped: bool, tmp_path: Path) -> None:
    """Its `fs` is a PyArrow filesystem; local paths are in the temporary directory."""
    fs: Any = ArrowFSWrapper(arrow.LocalFileSystem())
    binding = FsspecBinding.recognise(fs, "arrow")
    assert isinstance(binding, FsspecBinding)
    assert binding._root == tempfile.gettempdir()
    binding = FsspecBinding(DirFileSystem(str(tmp_path), fs) if wrapped else fs, "", "arrow")
    assert binding.remote is False
    assert binding.versions["pyarrow"] == pyarrow.__version__
    binding._root = "" if wrapped else str(tmp_path)
    assert_it_reads_and_goes(binding, tmp_path)


def test_a_url_of_hdfs_leads_to_an_arrow_filesystem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without libhdfs: a local PyArrow directory replaces HadoopFileSystem."""
    asked: list[dict[str, object]] = []

    def connect(**options: object) -> arrow.FileSystem:
        asked.append(options)
        return arrow.SubTreeFileSystem(str(tmp_path), arrow.LocalFileSystem())

    monkeypatch.setattr(arrow, "HadoopFileSystem", connect)
    binding = FsspecBinding.from_url("hdfs://name:8020/", {"replication": "2"})
    assert (asked[0]["host"], asked[0]["port"], asked[0]["replication"]) == ("name", 8020, 2)
    assert binding.remote
    assert_it_reads_and_goes(binding, tmp_path)


@pytest.mark.parametrize("fs", [memory.MemoryFileSystem(), FakeFileSystem()])
def test_a_view_of_our_own_filesystems_is_set_up(fs: Any) -> None:
    """Its `fs` is not an fsspec filesystem either."""
    binding = FsspecBinding.recognise(fs.as_fsspec(), "view")
    assert isinstance(binding, FsspecBinding)
    binding.prepare()
    assert binding.status_length(binding.create(b"abc")) == 3
    binding.dispose()
    assert list(fs.list_status("/")) == []


def assert_it_reads_and_goes(binding: FsspecBinding, directory: Path) -> None:
    """Assert that a binding writes and reads a file below the directory, and removes it."""
    binding.prepare()
    opened = binding.open(binding.create(b"abc"))
    assert binding.bind(Step("py_read", (3,)))(opened) == returned(b"abc")
    binding.bind(Step("close"))(opened)
    assert len(list(directory.iterdir())) == 1
    binding.dispose()
    binding._close()
    assert not list(directory.iterdir())


def test_reports_can_show_versions() -> None:
    """fsspec's own version is always included."""
    assert at(Path("/")).versions["fsspec"] == fsspec.__version__
    assert at(Path("/")).versions["python"] == platform.python_version()


@pytest.mark.parametrize("options", [{}, {"block_size": 77}])
def test_files_are_opened_as_users_open_them(options: dict[str, int], tmp_path: Path) -> None:
    """Without a block size: a filesystem may reject one, or have its own."""
    seen: list[object] = []

    class Blocks(LocalFileSystem):  # type: ignore[misc]
        cachable = False

        def _open(self, path: str, mode: str, block_size: int | None, **more: object) -> Any:
            if mode == "rb":
                seen.append((block_size, more["cache_options"]))
            return open(path, mode)

    binding = FsspecBinding(Blocks(**options), str(tmp_path), "x")
    binding.prepare()
    binding.open(binding.create(b"x")).file.close()
    binding.dispose()
    assert seen == [(None, None)] * len(seen)
    assert len(seen) > 1


class Told:
    """A file with block attributes set by the test."""

    def __init__(self, **attributes: object) -> None:
        self.__dict__ |= attributes

    def __enter__(self) -> Told:
        return self

    def __exit__(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(
    ("attributes", "block"),
    [
        ({"blocksize": 7}, 7),
        ({"block_size": 7}, 7),
        ({"blocksize": None, "block_size": 7}, 7),
        ({"cache": Told(blocksize=7)}, 7),
        ({"blocksize": 0, "cache": Told(blocksize=-1)}, None),
        ({"blocksize": 7, "cache": Told(name="none", blocksize=7)}, None),
        ({"blocksize": 7, "cache": Told(name="bytes")}, 7),
        ({"blocksize": "7"}, None),
        ({"blocksize": True}, None),
        ({}, None),
    ],
)
def test_an_opened_file_tells_the_size_of_its_blocks(
    attributes: dict[str, object], block: int | None, tmp_path: Path
) -> None:
    """After `prepare`; None if there is none."""
    assert block_of(lambda: Told(**attributes), tmp_path) == block


def test_an_open_that_hangs_tells_no_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It does so in time: the programs report the hang."""
    never = threading.Event()
    monkeypatch.setattr(fsspec_binding, "_LOOKING", 0.1)
    assert block_of(never.wait, tmp_path) is None
    never.set()


def block_of(opener: Callable[[], Any], directory: Path) -> int | None:
    """Return the block of a prepared binding whose files an opener creates."""

    class Opening(LocalFileSystem):  # type: ignore[misc]
        cachable = False

        def open(self, path: str, mode: str = "rb", **options: object) -> Any:
            return opener() if mode == "rb" else super().open(path, mode, **options)

    binding = FsspecBinding(Opening(), str(directory), "x")
    assert binding.block is None
    binding.prepare()
    binding.dispose()
    return binding.block


def test_files_that_cant_be_opened_do_not_fail_the_set_up(tmp_path: Path) -> None:
    """Programs report them."""
    assert block_of(lambda: throw(OSError("no")), tmp_path) is None


def test_the_file_of_a_read_only_target_tells_its_block_too(tmp_path: Path) -> None:
    """It is the only one that can be opened."""
    (tmp_path / "it").write_bytes(b"abc")
    url, copy = f"file://{tmp_path}", tmp_path / "it"
    binding = FsspecBinding.from_url(url, {}, file="it", content=copy)
    binding.prepare()
    assert binding.block == io.DEFAULT_BUFFER_SIZE


class Dbfs(DatabricksFileSystem):  # type: ignore[misc]
    """Files of Databricks; a dictionary replaces the service."""

    cachable = False

    def __init__(self) -> None:
        super().__init__("host", "token")
        self.files: dict[str, bytes] = {}

    def _send_to_api(self, method: str, endpoint: str, json: dict[str, Any]) -> dict[str, Any]:
        answer = getattr(self, f"_{endpoint.replace('-', '_')}")(**json)
        return cast("dict[str, Any]", answer or {})

    def _get_status(self, path: str) -> None:
        raise DatabricksException("RESOURCE_DOES_NOT_EXIST", path)

    def _mkdirs(self, path: str) -> None:
        pass

    def _create(self, path: str, overwrite: bool) -> dict[str, str]:
        self.files[path] = b""
        return {"handle": path}

    def _add_block(self, handle: str, data: str) -> None:
        self.files[handle] += b64decode(data)

    def _close(self, handle: str) -> None:
        pass

    def _read(self, path: str, offset: int, length: int) -> dict[str, bytes]:
        return {"data": b64encode(self.files[path][offset : offset + length])}

    def _list(self, path: str) -> dict[str, object]:
        found = {p: len(data) for p, data in self.files.items() if p.startswith(path)}
        return {"files": [{"path": p, "is_dir": False, "file_size": n} for p, n in found.items()]}

    def _delete(self, path: str, recursive: bool) -> None:
        self.files = {p: data for p, data in self.files.items() if not p.startswith(path)}


def test_files_that_take_no_block_size_are_read(run: Calls) -> None:
    """Databricks raises ValueError for other block sizes than its own, 1 MiB."""
    binding = FsspecBinding(Dbfs(), "", "dbfs")
    data = content(9)
    outcomes = run(binding, data, ("seek", 4), ("py_read", 2), ("pread", 1, 3, 0, 3))
    assert outcomes == [returned(None), returned(data[4:6]), returned(3, data[1:4])]
    assert binding.block == 1 << 20


def test_ranges_are_bound_to_a_filesystem() -> None:
    """The closure needs only an open file and a path."""
    fs = cast(Any, Scripted(lambda: b"ab"))
    action = bind_ranges(Step("pread", (0, 2, 0, 2)), fs, lambda error, kind=None: INEXPRESSIBLE)
    assert action(OpenedFile(io.BytesIO(), "file")) == returned(2, b"ab")


@pytest.fixture(params=["memory", "local"])
def binding(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FsspecBinding]:
    """A prepared binding to each filesystem that fsspec includes."""
    url = "memory://x" if request.param == "memory" else f"file://{tmp_path}"
    made = FsspecBinding.from_url(url, {})
    made.prepare()
    yield made
    made.dispose()


@pytest.fixture
def opener(binding: FsspecBinding) -> FsspecOpener:
    """The binding's opener."""
    return binding.opener


@pytest.fixture
def zipped(tmp_path: Path) -> Iterator[FsspecBinding]:
    """A prepared binding to a read-only zip file with one file."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("in/it", b"abcdef")
    (tmp_path / "copy").write_bytes(b"abcdef")
    url = f"zip://::file://{tmp_path}/a.zip"
    made = FsspecBinding.from_url(url, {}, file="in/it", content=tmp_path / "copy")
    made.prepare()
    yield made
    made.dispose()


def attempt(binding: FsspecBinding, path: str, *calls: BuilderCall) -> Any:
    """Return an opened file, or the exception of the future."""
    opener = binding.opener
    builder = opener.open_file(path)
    for call in calls:
        builder = opener.call(builder, call)
    try:
        return opener.get(opener.build(builder))
    except Exception as error:
        return error


def read(binding: FsspecBinding, opened: Any) -> Any:
    """Return the bytes that a step reads from an opened file, which is then closed."""
    outcome = binding.bind(Step("py_read", (-1,)))(opened)
    binding.bind(Step("close"))(opened)
    return outcome


def test_a_file_is_opened_as_the_binding_opens_it(
    binding: FsspecBinding, opener: FsspecOpener
) -> None:
    """So that every step works on it, including those that use its path."""
    path = opener.place("file", b"abcdef")
    opened = attempt(binding, path, ("must", "fs.option.openfile.read.policy", "random"))
    pread = binding.bind(Step("pread", (1, 2, 0, 2)))
    assert pread(opened) == returned(2, b"bc")
    assert read(binding, opened) == returned(b"abcdef")


def test_a_late_file_is_there_once_it_appears(binding: FsspecBinding, opener: FsspecOpener) -> None:
    """The builder is created before the file."""
    path = opener.place("late", b"abc")
    builder = opener.open_file(path)
    assert not binding.fs.exists(path)
    opener.appear(path, b"abc")
    assert read(binding, opener.get(opener.build(builder))) == returned(b"abc")


@pytest.mark.parametrize("scene", ["missing", "directory"])
def test_missing_file_fails_in_the_future(
    scene: str, binding: FsspecBinding, opener: FsspecOpener
) -> None:
    """As an OSError, the equivalent of IOException."""
    path = opener.place(scene, b"abc")
    assert opener.outcome(attempt(binding, path)).kind in IO_KINDS


def test_a_file_that_may_not_be_read_fails_in_the_future(
    binding: FsspecBinding, opener: FsspecOpener
) -> None:
    """If permissions apply to this process; otherwise the scene is not available."""
    try:
        path = opener.place("unreadable", b"abc")
    except NoScene:
        assert not isinstance(binding.fs, LocalFileSystem) or os.geteuid() == 0
        assert "unreadable" not in opener.scenes
    else:
        assert isinstance(attempt(binding, path), PermissionError)


def test_a_path_of_another_scheme_is_a_name_like_any_other(opener: FsspecOpener) -> None:
    """fsspec does not recognize foreign paths."""
    with pytest.raises(NoScene, match="as a file name"):
        opener.place("foreign", b"abc")
    assert "foreign" not in opener.scenes


class Flat(LocalFileSystem):  # type: ignore[misc] # fsspec has no types
    """A store whose directories exist only while they have files."""

    cachable = False
    made = False

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        if not self.made:  # the prefix
            super().makedirs(path, exist_ok)
            self.made = True


class RefusingOpens(LocalFileSystem):  # type: ignore[misc]
    """A store where only the first directory can be created."""

    cachable = False

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        if not exist_ok:
            raise PermissionError(13, "denied")
        super().makedirs(path, exist_ok)


@pytest.mark.parametrize(
    ("fs", "error", "message"),
    [
        (Flat(), NoScene, "no empty directories"),
        (RefusingOpens(), TargetError, "can't create a directory"),
    ],
)
def test_a_directory_that_cant_be_made(
    fs: AbstractFileSystem, error: type[Exception], message: str, tmp_path: Path
) -> None:
    """A flat store has none, which is not a failure; other failures are one line."""
    binding = FsspecBinding(fs, str(tmp_path), "x")
    binding.prepare()
    with pytest.raises(error, match=message):
        binding.opener.place("directory", b"")
    binding.dispose()


@pytest.mark.parametrize("kind", STATUSES)
def test_each_status_is_taken_or_rejected_for_its_name(
    kind: str, binding: FsspecBinding, opener: FsspecOpener
) -> None:
    """Only the last element of its path counts."""
    path = opener.place("file", b"abcdef")
    assert kind in opener.statuses
    status = opener.status(path, kind, None)
    assert kind == "none" or isinstance(status, FileStatus)
    opened = attempt(binding, path, ("with_file_status", status))
    if kind in MISNAMED:
        assert isinstance(opened, IllegalArgumentException)
    else:
        assert read(binding, opened) == returned(b"abcdef")


def test_status_has_the_actual_or_the_given_length(opener: FsspecOpener) -> None:
    """A missing file has no length."""
    path = opener.place("file", b"abcdef")
    lengths = [opener.status(path, "located", n) for n in (None, 2)]
    assert [s.length for s in lengths if isinstance(s, LocatedFileStatus)] == [6, 2]
    late = opener.status(opener.place("late", b"abc"), "own", None)
    assert late is not None
    assert late.length == -1


def test_a_target_that_cant_be_written_has_few_scenes(zipped: FsspecBinding) -> None:
    """Its only file, and a missing path; the file does not change."""
    opener = zipped.opener
    assert opener.scenes == {"file", "missing"}
    assert opener.statuses == set(STATUSES) - {"stale"}
    path = opener.place("file", b"abcdef")
    own = opener.status(path, "own", None)
    opened = attempt(zipped, path, ("with_file_status", own))
    assert read(zipped, opened) == returned(b"abcdef")
    assert attempt(zipped, opener.place("missing", b"abcdef")).args
    with pytest.raises(NoScene):
        opener.place("late", b"abcdef")


def test_errors_hide_secrets_and_unreachable_server_gives_no_verdict(tmp_path: Path) -> None:
    """As for every other call of the binding."""
    opener = FsspecBinding(LocalFileSystem(), str(tmp_path), "x").opener
    said = opener.outcome(OSError("denied for http://me:hunter2@host/x?sig=abc"))
    assert "hunter2" not in said.detail
    assert opener.outcome(ConnectionResetError("gone")).kind is Kind.ENVIRONMENT
    assert opener.counters(None) == {}
