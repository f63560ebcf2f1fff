"""What the kit finds in fsspec's clients of servers, finding by finding."""

from __future__ import annotations

import threading

import pytest
from fsspec import AbstractFileSystem

from fscontract.implementations.bindings.fsspec import FsspecBinding
from servers.http_files import DATA
from tests.findings.conftest import Finds


def _on(filesystem: AbstractFileSystem) -> FsspecBinding:
    """The binding to a filesystem, which has just been made."""
    return FsspecBinding(filesystem, filesystem.root_marker, "server")


def test_sshfs_gives_the_whole_file_for_a_range(sshfs: AbstractFileSystem, finds: Finds) -> None:
    """Finding N1: cat_file takes start and end, and passes over them."""
    sshfs.pipe_file("/it", b"0123456789")
    assert sshfs.cat_file("/it", start=2, end=5) == b"0123456789"
    assert sshfs.cat_ranges(["/it"], [2], [5]) == [b"0123456789"]
    sshfs.rm("/it")
    finds(_on(sshfs), "pread.count", "returned 2, buffer ff", 2, ["pread", 0, 1, 0, 1])
    finds(_on(sshfs), "pread.eof", "returned 1", 1, ["pread", 1, 1, 0, 1])
    steps = ["read_vectored", [[0, 1]], "heap", "absent"]
    finds(_on(sshfs), "read-vectored.data", "returned [OTHER (2 of 1 bytes)]", 2, steps)


def test_a_file_of_sshfs_has_no_readinto(sshfs: AbstractFileSystem, finds: Finds) -> None:
    """Finding N2: and so nothing of Python's can buffer it."""
    actual = "OTHER (AttributeError: 'SSHFile' object has no attribute 'readinto')"
    finds(_on(sshfs), "python.readinto.data", actual, 1, ["py_readinto", "B", 1])


@pytest.mark.parametrize("client", ["sshfs", "sftp"])
def test_files_over_sftp_have_no_size(
    client: str, request: pytest.FixtureRequest, finds: Finds
) -> None:
    """Finding N3: fsspec's read_block asks for one."""
    actual = "OTHER (AttributeError: 'S"
    step = ["read_fully", 0, 0, 0, 0]
    finds(_on(request.getfixturevalue(client)), "read-fully.data", actual, 0, step)


@pytest.mark.parametrize("client", ["sshfs", "sftp"])
def test_files_over_sftp_go_to_before_their_start(
    client: str, request: pytest.FixtureRequest, finds: Finds
) -> None:
    """Finding N4: a negative seek is accepted, and told of by tell."""
    binding = _on(request.getfixturevalue(client))
    finds(binding, "seek.negative", "returned", 0, ["seek", -1])
    finds(binding, "python.tell.value", "returned -1", 0, ["py_seek", -1, 0], ["py_tell"])


def test_errors_of_sftp_are_none_of_pythons(sshfs: AbstractFileSystem, finds: Finds) -> None:
    """Finding N5: a directory, and a write, raise what is no OSError."""
    actual = "OTHER (SFTPFailure: File not open for writing)"
    finds(_on(sshfs), "python.write.refused", actual, 0, ["py_write"])


def test_a_seek_over_sftp_returns_nothing(sftp: AbstractFileSystem, finds: Finds) -> None:
    """Finding N6: paramiko's files are older than io."""
    finds(_on(sftp), "python.seek.returns", "returned", 0, ["py_seek", 0, 0])
    actual = "NULL (TypeError: can only assign array"
    finds(_on(sftp), "python.readinto.formats", actual, 1, ["py_readinto", "I", 1])
    actual = "IO (OSError: File is closed)"
    finds(_on(sftp), "python.read.closed", actual, 0, ["close"], ["py_read", 0])


class _Reader(threading.Thread):
    """Reads a file 200 times, and counts; or ends with what went wrong."""

    def __init__(self, filesystem: AbstractFileSystem, path: str) -> None:
        super().__init__(daemon=True)
        self.filesystem = filesystem
        self.path = path
        self.reads = 0
        self.wrong = ""

    def run(self) -> None:
        """Read."""
        try:
            while self.reads < 200:
                if self.filesystem.cat_file(self.path, 100, 600) != self.path[-1:].encode() * 500:
                    self.wrong = "other bytes"
                    return
                self.reads += 1
        except Exception as error:
            self.wrong = f"{type(error).__name__}: {error}"

    def ended(self, patience: float) -> str:
        """What went wrong; "waits" if it has read nothing for so many seconds."""
        before = -1
        while self.is_alive() and before != self.reads:
            before = self.reads
            self.join(patience)
        return "waits" if self.is_alive() else self.wrong


def _read_by(filesystem: AbstractFileSystem, *paths: str, patience: float = 30) -> list[str]:
    """What threads that read a file each met, each in its place."""
    for path in paths:
        with filesystem.open(path, "wb") as file:
            file.write(path[-1:].encode() * 200_000)
    readers = [_Reader(filesystem, path) for path in paths]
    for reader in readers:
        reader.start()
    return [reader.ended(patience) for reader in readers]


@pytest.mark.parametrize("client", ["ftp", "sftp"])
def test_threads_that_share_a_connection_mix_it_up(
    client: str, request: pytest.FixtureRequest
) -> None:
    """Finding N7: they wait for ever, or get answers that are meant for others; one does not."""
    filesystem = request.getfixturevalue(client)
    assert _read_by(filesystem, "/a") == [""]
    assert any(_read_by(filesystem, "/b", "/c", patience=3))


def test_threads_that_have_connections_of_their_own_get_on(webdav: AbstractFileSystem) -> None:
    """Or the test before would tell nothing."""
    assert _read_by(webdav, "b", "c") == ["", ""]


def test_a_file_that_is_gone_over_ftp_raises_no_oserror(
    ftp: AbstractFileSystem, finds: Finds
) -> None:
    """Finding N8: but what ftplib raises."""
    steps = ["change", "delete"], ["read_byte"]
    finds(_on(ftp), "consistency.errors", "OTHER (error_perm: 550", 1, *steps)


def test_a_seek_on_a_closed_file_opens_a_connection(webdav: AbstractFileSystem) -> None:
    """Finding N9: which nothing closes."""
    webdav.pipe_file("it", b"0123456789")
    pool = webdav.client.http._transport._pool
    files = []  # a file that is collected may take its connection along
    for number in range(3):
        file = webdav.open("it")
        files.append(file)
        file.close()
        file.seek(2)
        file.close()
        assert sum(not c.is_idle() for c in pool.connections) == number + 1


def test_a_closed_file_over_webdav_fails_an_assertion(
    webdav: AbstractFileSystem, finds: Finds
) -> None:
    """Finding N10, with other calls of io's that it does not have."""
    binding = _on(webdav)
    finds(binding, "read-byte.closed", "OTHER (AssertionError)", 0, ["close"], ["read_byte"])
    finds(binding, "python.read.none", "NULL (TypeError: '<' not supp", 0, ["py_read", None])
    finds(binding, "python.seek.past-end", "returned 0", 0, ["py_seek", 1, 1])


def test_a_range_of_a_blob_that_holds_nothing_fails(
    azure: AbstractFileSystem, finds: Finds
) -> None:
    """Finding N11: beyond the end with an error of Azure's, and of length 0 with a ValueError."""
    binding = FsspecBinding(azure, "box", "azure", DATA, "box/it")
    actual = "OTHER (HttpResponseError: The range specified is invalid"
    finds(binding, "pread.eof", actual, len(DATA), ["pread", "len+1", 2, 0, 2])
    actual = "ILLEGAL_ARGUMENT (ValueError: Required Content-Range response header is missing"
    finds(binding, "pread.zero", actual, len(DATA), ["pread", 4, 0, 0, 0])
