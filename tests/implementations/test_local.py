"""Tests specific to local files: descriptors, changes under a stream, links out of the root."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyfakefs.fake_filesystem_unittest import Patcher

from fscontract.contract.api.errors import (
    FileNotFoundException,
    IllegalArgumentException,
    PathIOException,
    RemoteFileChangedException,
)
from fscontract.contract.program.content import content, replacement
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.local_stream import (
    LocalInputStream,
    PortableDescriptor,
    PositionedDescriptor,
    choose,
)

from .support import rest_of, write

DATA = content(10_000)
linux = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")


@contextmanager
def opened(local: LocalFileSystem, data: bytes = DATA) -> Iterator[LocalInputStream]:
    """Yield a stream on a new file."""
    write(local, "/file", data)
    stream = local.open("/file")
    assert isinstance(stream, LocalInputStream)
    with stream:
        yield stream


def descriptors(tmp_path: Path) -> list[str]:
    """Return the files below `tmp_path` that this process has open."""
    links = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
    files = [os.readlink(link) for link in links if os.path.lexists(link)]
    return [file for file in files if file.startswith(str(tmp_path))]


@linux
class TestDescriptors:
    def test_an_open_stream_holds_one(self, local: LocalFileSystem, tmp_path: Path) -> None:
        with opened(local):
            assert len(descriptors(tmp_path)) == 1

    @pytest.mark.parametrize("release", ["close", "unbuffer"])
    def test_close_and_unbuffer_release_it(
        self, local: LocalFileSystem, tmp_path: Path, release: str
    ) -> None:
        with opened(local) as stream:
            stream.read_byte()
            getattr(stream, release)()
            assert descriptors(tmp_path) == []

    def test_losing_the_stream_releases_it(self, local: LocalFileSystem, tmp_path: Path) -> None:
        write(local, "/file", DATA)
        stream = local.open("/file")
        del stream
        gc.collect()
        assert descriptors(tmp_path) == []

    def test_a_read_in_flight_keeps_it(self, local: LocalFileSystem, tmp_path: Path) -> None:
        with opened(local) as stream:
            in_flight = stream._descriptor
            assert in_flight is not None
            stream.close()
            buffer = bytearray(5)
            assert in_flight.read(0, memoryview(buffer)) == 5
            del in_flight
            assert descriptors(tmp_path) == []

    def test_descriptor_is_reopened_by_the_next_read(
        self, local: LocalFileSystem, tmp_path: Path
    ) -> None:
        with opened(local) as stream:
            stream.seek(5)
            stream.unbuffer()
            assert stream.get_pos() == 5
            stream.seek(6)
            assert stream.available() == 9_994
            assert descriptors(tmp_path) == [], "nothing was read yet"
            assert stream.read_byte() == DATA[6]
            assert len(descriptors(tmp_path)) == 1

    def test_a_failed_open_leaves_none(self, local: LocalFileSystem, tmp_path: Path) -> None:
        local.mkdirs("/dir")
        with pytest.raises(FileNotFoundException):
            local.open("/dir")
        assert descriptors(tmp_path) == []

    def test_an_abandoned_file_leaves_none(self, local: LocalFileSystem, tmp_path: Path) -> None:
        file = local.create("/file")
        file.write(b"x")
        del file
        gc.collect()
        assert descriptors(tmp_path) == []
        assert os.listdir(local.root) == []


def overwrite(path: Path) -> None:
    """Overwrite a file with new bytes."""
    path.write_bytes(replacement(DATA))


def truncate(path: Path) -> None:
    """Truncate a file to 100 bytes."""
    os.truncate(path, 100)


def append(path: Path) -> None:
    """Append to a file."""
    with path.open("ab") as file:
        file.write(replacement(DATA))


class TestChangedFiles:
    @pytest.mark.parametrize("change", [overwrite, truncate, append, Path.unlink])
    def test_every_byte_is_old_or_new_and_none_is_missing(
        self, local: LocalFileSystem, change: Callable[[Path], None]
    ) -> None:
        with opened(local) as stream:
            stream.read_byte()
            path = Path(local.root, "file")
            change(path)
            ends = {len(DATA), path.stat().st_size if path.exists() else len(DATA)}
            data = DATA[:1] + rest_of(stream)
            old_or_new = zip(data, DATA, replacement(DATA), strict=False)
            assert all(got in (old, new) for got, old, new in old_or_new)
            assert min(ends) <= len(data) <= max(ends)

    def test_a_file_that_was_cut_ends_early(self, local: LocalFileSystem) -> None:
        with opened(local) as stream:
            truncate(Path(local.root, "file"))
            buffer = bytearray(200)
            assert stream.pread(50, buffer) == 50
            assert stream.pread(100, buffer) == -1
            with pytest.raises(EOFError):
                stream.read_fully(0, buffer)

    @pytest.mark.parametrize("change", [overwrite, truncate, append])
    def test_a_changed_file_is_not_reopened(
        self, local: LocalFileSystem, change: Callable[[Path], None]
    ) -> None:
        with opened(local) as stream:
            stream.unbuffer()
            path = Path(local.root, "file")
            os.utime(path, ns=(0, 0))
            change(path)
            with pytest.raises(RemoteFileChangedException):
                stream.read_byte()
            with pytest.raises(RemoteFileChangedException):
                stream.pread(0, bytearray(1))

    def test_a_replaced_file_is_not_reopened(self, local: LocalFileSystem) -> None:
        with opened(local) as stream:
            stream.unbuffer()
            write(local, "/file", DATA)
            with pytest.raises(RemoteFileChangedException):
                stream.read_byte()

    def test_a_deleted_file_is_not_found_again(self, local: LocalFileSystem) -> None:
        with opened(local) as stream:
            stream.unbuffer()
            local.delete("/file")
            with pytest.raises(FileNotFoundException):
                stream.read_byte()


class TestBuffer:
    @pytest.mark.parametrize("size", [0, 1, 7, 4096, 20_000])
    def test_reads_agree_at_every_boundary(self, local: LocalFileSystem, size: int) -> None:
        write(local, "/file", DATA)
        with local.open("/file", buffer_size=size) as stream:
            for position in (0, 1, 4095, 4096, 4097, 9_990, 9_999, 3):
                stream.seek(position)
                assert stream.read_byte() == DATA[position]
                buffer = bytearray(20)
                count = stream.read_into(buffer, 2, 10)
                expected = DATA[position + 1 : position + 11]
                assert count == (len(expected) or -1)
                assert bytes(buffer) == (b"\0\0" + expected).ljust(20, b"\0")

    def test_it_survives_seeks(self, local: LocalFileSystem) -> None:
        with opened(local) as stream:
            stream.read_byte()
            overwrite(Path(local.root, "file"))
            stream.seek(100)
            assert stream.read_byte() == DATA[100]


class TestRoot:
    def test_a_link_out_of_the_root_leads_nowhere(
        self, local: LocalFileSystem, tmp_path: Path
    ) -> None:
        (tmp_path / "secret").mkdir()
        (tmp_path / "secret" / "file").write_bytes(b"x")
        local.mkdirs("/")
        os.symlink(tmp_path / "secret", Path(local.root, "link"))
        calls: list[Callable[[str], Any]] = [
            local.open,
            local.get_file_status,
            local.list_status,
            local.create,
            local.delete,
        ]
        for call in calls:
            with pytest.raises(PathIOException, match="root"):
                call("/link/file")
        assert list(local.list_status("/")) == []
        assert local.delete("/link"), "the link itself is inside"
        assert (tmp_path / "secret" / "file").exists()

    def test_a_link_inside_the_root_is_followed(self, local: LocalFileSystem) -> None:
        write(local, "/dir/file", b"x")
        os.symlink("dir", Path(local.root, "link"))
        with local.open("/link/file") as stream:
            assert rest_of(stream) == b"x"
        assert [status.path for status in local.list_status("/")] == ["/dir", "/link"]

    def test_a_name_that_only_starts_like_the_root_is_outside(
        self, local: LocalFileSystem, tmp_path: Path
    ) -> None:
        (tmp_path / "root2").mkdir()
        local.mkdirs("/")
        os.symlink(tmp_path / "root2", Path(local.root, "link"))
        with pytest.raises(PathIOException):
            local.get_file_status("/link")

    def test_the_whole_machine_by_default(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(b"x")
        assert LocalFileSystem().get_file_status(str(tmp_path / "file")).length == 1

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
    def test_a_pipe_is_rejected_at_once(self, local: LocalFileSystem) -> None:
        local.mkdirs("/")
        os.mkfifo(Path(local.root, "pipe"))
        with pytest.raises(FileNotFoundException):
            local.open("/pipe")


class TestStrategies:
    def test_the_platform_decides_by_default(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert choose(None) is PositionedDescriptor
        monkeypatch.delattr(os, "preadv")
        assert choose(None) is PortableDescriptor

    def test_names_are_checked(self) -> None:
        with pytest.raises(IllegalArgumentException, match="positioned or portable"):
            LocalFileSystem(strategy="fast")

    @pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="needs posix_fadvise")
    @pytest.mark.parametrize(
        ("policy", "advice"),
        [
            ("whole-file", "SEQUENTIAL"),
            ("parquet", "RANDOM"),
            ("adaptive", "NORMAL"),
            ("nonsense", "NORMAL"),
        ],
    )
    def test_the_read_policy_becomes_advice(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: str, advice: str
    ) -> None:
        given: list[int] = []
        monkeypatch.setattr(os, "posix_fadvise", lambda *call: given.append(call[3]))
        fs = LocalFileSystem(str(tmp_path), strategy="positioned")
        write(fs, "/file", b"x")
        fs.open_file("/file").opt("fs.option.openfile.read.policy", policy).build().result().close()
        assert given == [getattr(os, f"POSIX_FADV_{advice}")]

    @pytest.mark.parametrize(
        ("policy", "buffer_size", "ahead"),
        [
            ("default", None, 4096),
            ("parquet", None, 4096),
            ("csv", None, 65536),
            ("whole-file", None, 1 << 20),
            ("whole-file", 100, 100),
            ("nonsense", None, 4096),
        ],
    )
    def test_the_read_policy_sets_the_read_ahead_and_a_buffer_size_overrides_it(
        self, local: LocalFileSystem, policy: str, buffer_size: int | None, ahead: int
    ) -> None:
        """Bytes read ahead remain as before the change."""
        write(local, "/file", b"a" * (1 << 21))
        builder = local.open_file("/file").opt("fs.option.openfile.read.policy", policy)
        if buffer_size is not None:
            builder.buffer_size(buffer_size)
        with builder.build().result() as stream:
            stream.read_byte()
            with open(os.path.join(local.root, "file"), "r+b") as file:
                file.write(b"b" * (1 << 21))
            stream.seek(ahead - 1)
            assert [stream.read_byte(), stream.read_byte()] == [*b"ab"]

    def test_a_buffer_is_never_longer_than_the_file(self, local: LocalFileSystem) -> None:
        write(local, "/file", b"abc")
        with local.open_file("/file").buffer_size(2**31 - 1).build().result() as stream:
            assert stream.read_byte() == ord("a")
            assert rest_of(stream) == b"bc"
            assert len(vars(stream)["_buffer"]) == 3

    def test_the_portable_one_reads_faked_files(self) -> None:
        with Patcher() as patcher:
            assert patcher.fs is not None
            patcher.fs.create_file("/only/here", contents=DATA)
            fs = LocalFileSystem(strategy="portable")
            buffer = bytearray(100)
            with fs.open("/only/here") as stream:
                assert stream.pread(50, buffer) == 100
                assert bytes(buffer) == DATA[50:150]
                stream.unbuffer()
                assert rest_of(stream) == DATA


def test_files_open_as_streams_of_the_given_class(tmp_path: Path) -> None:
    class Counting(LocalInputStream):
        pass

    (tmp_path / "a").write_bytes(b"abc")
    with LocalFileSystem(str(tmp_path), stream_class=Counting).open("/a") as stream:
        assert isinstance(stream, Counting)
        assert stream.read_byte() == ord("a")
