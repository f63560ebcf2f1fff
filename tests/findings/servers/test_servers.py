"""The findings in fsspec's clients of servers."""

from __future__ import annotations

import threading

import pytest
from fsspec import AbstractFileSystem

from fscontract.implementations.bindings.fsspec import FsspecBinding
from servers.http_files import DATA
from tests.findings.conftest import Finds


def _on(filesystem: AbstractFileSystem) -> FsspecBinding:
    """Return the binding to a filesystem that was just made."""
    return FsspecBinding(filesystem, filesystem.root_marker, "server")


def test_sshfs_range_returns_the_whole_file(sshfs: AbstractFileSystem, finds: Finds) -> None:
    """Finding N1: cat_file ignores start and end."""
    sshfs.pipe_file("/it", b"0123456789")
    assert sshfs.cat_file("/it", start=2, end=5) == b"0123456789"
    assert sshfs.cat_ranges(["/it"], [2], [5]) == [b"0123456789"]
    sshfs.rm("/it")
    finds(_on(sshfs), "pread.count", "returned 2, buffer 80", 2, ["pread", 0, 1, 0, 1])
    finds(_on(sshfs), "pread.eof", "returned 1", 1, ["pread", 1, 1, 0, 1])
    steps = ["read_vectored", [[0, 1]], "heap", "absent"]
    finds(_on(sshfs), "read-vectored.data", "returned [OTHER (got 2 of 1 bytes)]", 2, steps)


def test_file_of_sshfs_has_no_readinto(sshfs: AbstractFileSystem, finds: Finds) -> None:
    """Finding N2: so Python's buffered readers can't wrap it."""
    actual = "OTHER (AttributeError: 'SSHFile' object has no attribute 'readinto')"
    finds(_on(sshfs), "python.readinto.data", actual, 1, ["py_readinto", "B", 1])


@pytest.mark.parametrize("client", ["sshfs", "sftp"])
def test_file_over_sftp_has_no_size(
    client: str, request: pytest.FixtureRequest, finds: Finds
) -> None:
    """Finding N3: fsspec's read_block asks for one."""
    actual = "OTHER (AttributeError: 'S"
    step = ["read_fully", 0, 0, 0, 0]
    finds(_on(request.getfixturevalue(client)), "read-fully.data", actual, 0, step)


@pytest.mark.parametrize("client", ["sshfs", "sftp"])
def test_file_over_sftp_accepts_a_negative_seek(
    client: str, request: pytest.FixtureRequest, finds: Finds
) -> None:
    """Finding N4: tell returns the negative position."""
    binding = _on(request.getfixturevalue(client))
    finds(binding, "seek.negative", "returned", 0, ["seek", -1])
    finds(binding, "python.tell.value", "returned -1", 0, ["py_seek", -1, 0], ["py_tell"])


def test_errors_of_sftp_are_no_oserrors(sshfs: AbstractFileSystem, finds: Finds) -> None:
    """Finding N5: for a directory, and for a write."""
    actual = "OTHER (SFTPFailure: File not open for writing)"
    finds(_on(sshfs), "python.write.refused", actual, 0, ["py_write"])


def test_seek_over_sftp_returns_none(sftp: AbstractFileSystem, finds: Finds) -> None:
    """Finding N6: paramiko's files are older than io."""
    finds(_on(sftp), "python.seek.returns", "returned", 0, ["py_seek", 0, 0])
    actual = "NULL (TypeError: can only assign array"
    finds(_on(sftp), "python.readinto.formats", actual, 1, ["py_readinto", "I", 1])
    actual = "IO (OSError: File is closed)"
    finds(_on(sftp), "python.read.closed", actual, 0, ["close"], ["py_read", 0])


class _Reader(threading.Thread):
    """Read a file 200 times, and count; or end with the error."""

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
        """Return the error; "waits" if nothing was read for some seconds."""
        before = -1
        while self.is_alive() and before != self.reads:
            before = self.reads
            self.join(patience)
        return "waits" if self.is_alive() else self.wrong


def _read_by(filesystem: AbstractFileSystem, *paths: str, patience: float = 30) -> list[str]:
    """Return what each of several threads met that read a file."""
    for path in paths:
        with filesystem.open(path, "wb") as file:
            file.write(path[-1:].encode() * 200_000)
    readers = [_Reader(filesystem, path) for path in paths]
    for reader in readers:
        reader.start()
    return [reader.ended(patience) for reader in readers]


# fsspec drops a connection to an FTP server that it replaces, and does not close it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("client", ["ftp", "sftp"])
def test_threads_that_share_a_connection_mix_up_their_answers(
    client: str, request: pytest.FixtureRequest
) -> None:
    """Finding N7: they wait forever, or get answers for others; a single thread does not."""
    filesystem = request.getfixturevalue(client)
    assert _read_by(filesystem, "/a") == [""]
    assert any(_read_by(filesystem, "/b", "/c", patience=3))


def test_threads_with_their_own_connections_read_correctly(webdav: AbstractFileSystem) -> None:
    """Comparison for N7."""
    assert _read_by(webdav, "b", "c") == ["", ""]


def test_missing_file_over_ftp_raises_no_oserror(ftp: AbstractFileSystem, finds: Finds) -> None:
    """Finding N8: it raises the error of ftplib."""
    steps = ["change", "delete"], ["read_byte"]
    finds(_on(ftp), "consistency.errors", "OTHER (error_perm: 550", 1, *steps)


def test_seek_on_a_closed_file_opens_a_connection(webdav: AbstractFileSystem) -> None:
    """Finding N9: nothing closes it."""
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


def test_closed_file_over_webdav_raises_assertion_error(
    webdav: AbstractFileSystem, finds: Finds
) -> None:
    """Finding N10, with other methods of io that it lacks."""
    binding = _on(webdav)
    finds(binding, "read-byte.closed", "OTHER (AssertionError)", 0, ["close"], ["read_byte"])
    finds(binding, "python.read.none", "NULL (TypeError: '<' not supp", 0, ["py_read", None])
    finds(binding, "python.seek.past-end", "returned 0", 0, ["py_seek", 1, 1])


def test_empty_range_of_a_blob_raises(azure: AbstractFileSystem, finds: Finds) -> None:
    """Finding N11: beyond the end with an error of Azure's, and of length 0 with a ValueError."""
    binding = FsspecBinding(azure, "box", "azure", DATA, "box/it")
    actual = "OTHER (HttpResponseError: The range specified is invalid"
    finds(binding, "pread.eof", actual, len(DATA), ["pread", "len+1", 2, 0, 2])
    actual = "ILLEGAL_ARGUMENT (ValueError: Required Content-Range response header is missing"
    finds(binding, "pread.zero", actual, len(DATA), ["pread", 4, 0, 0, 0])
