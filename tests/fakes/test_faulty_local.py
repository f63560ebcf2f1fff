"""A real directory whose files fail by a plan."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fscontract.contract.api.errors import (
    FileNotFoundException,
    PathIOException,
    RemoteFileChangedException,
)
from fscontract.contract.api.filesystem import ByteBuffer, FileRange, FSDataInputStream
from fscontract.contract.program.content import content, replacement
from fscontract.contract.program.faults import FAULTS, Fault, FaultPlan
from fscontract.fakes.faulty_local import FaultyLocalFileSystem
from fscontract.fakes.strategies import fault_plans
from fscontract.implementations.local import LocalFileSystem

DATA = content(9000)


def _vectored(stream: FSDataInputStream) -> None:
    (wanted,) = ranges = [FileRange(10, 20)]
    stream.read_vectored(ranges)
    assert wanted.data is not None
    wanted.data.result()


#: Reads of every kind, each of which asks the descriptor; they must not go past the faults.
READS: dict[str, Callable[[FSDataInputStream], object]] = {
    "a byte": lambda s: s.read_byte(),
    "a little": lambda s: s.read_into(bytearray(10)),
    "a buffer": lambda s: s.read_into(bytearray(4096)),
    "more": lambda s: s.read_into(bytearray(8000)),
    "a pread": lambda s: s.pread(5, bytearray(100)),
    "part of a pread": lambda s: s.pread(5, bytearray(100), 3, 50),
    "all": lambda s: s.read_fully(0, bytearray(9000)),
    "a ByteBuffer": lambda s: s.read_buffer(ByteBuffer(bytearray(5000))),
    "a ByteBuffer there": lambda s: s.pread_buffer(7, ByteBuffer(bytearray(50))),
    "a ByteBuffer whole": lambda s: s.read_fully_buffer(7, ByteBuffer(bytearray(50))),
    "ranges": _vectored,
    "as a file": lambda s: s.as_file().read(),
}


@pytest.fixture(params=["positioned", "portable"])
def fs(request: pytest.FixtureRequest, tmp_path: Path) -> FaultyLocalFileSystem:
    """A directory with one file, `/file`, read in both ways."""
    (tmp_path / "file").write_bytes(DATA)
    return FaultyLocalFileSystem(str(tmp_path), request.param)


def _plan(fs: FaultyLocalFileSystem, *faults: Fault) -> None:
    fs.injector.attach(FaultPlan(faults))


def _read(stream: FSDataInputStream, size: int) -> bytes:
    buffer = bytearray(size)
    return bytes(buffer[: max(0, stream.read_into(buffer))])


def test_all_is_well_without_a_plan(fs: FaultyLocalFileSystem) -> None:
    """It is the local filesystem, and nothing is counted."""
    with fs.open("/file") as stream:
        assert _read(stream, 9001) == DATA
    assert (fs.injector.requests, fs.injector.fired) == (0, 0)


def test_opens_and_reads_are_requests_and_nothing_else_is(fs: FaultyLocalFileSystem) -> None:
    """So the numbers of a plan mean something."""
    _plan(fs)
    fs.get_file_status("/file")
    assert len(list(fs.list_status("/"))) == 1
    with fs.open("/file") as stream:
        stream.seek(5)
        assert fs.injector.requests == 1
        stream.read_into(bytearray(5000))
        stream.pread(3, bytearray(50))
        assert fs.injector.requests == 3


def test_a_short_read_is_one_request_of_several(fs: FaultyLocalFileSystem) -> None:
    """The stream has to ask for the rest."""
    _plan(fs, Fault.short(3), Fault.short(nth=2))
    with fs.open("/file") as stream:
        assert _read(stream, 5000) == DATA[:5000]
    assert (fs.injector.requests, fs.injector.fired) == (4, 2)


def test_a_read_that_is_short_anyway_does_not_count(fs: FaultyLocalFileSystem) -> None:
    """The fault has changed nothing."""
    _plan(fs, Fault.short(5000))
    with fs.open("/file") as stream:
        assert _read(stream, 5000) == DATA[:5000]
    assert fs.injector.fired == 0


@pytest.mark.parametrize("read", READS)
def test_no_read_goes_past_the_faults(fs: FaultyLocalFileSystem, read: str) -> None:
    """Streams read large buffers without asking their descriptor's class; not here."""
    _plan(fs, Fault("reset", nth=2))
    with fs.open("/file") as stream:
        with pytest.raises(OSError, match=os.strerror(errno.EIO)):
            READS[read](stream)
        assert stream.get_pos() == 0
        READS[read](stream)
        assert _read(stream, 0) == b""
    assert fs.injector.fired == 1


def test_a_time_out_comes_at_once_and_is_one_in_python(fs: FaultyLocalFileSystem) -> None:
    """Tests have no time to wait."""
    _plan(fs, Fault("timeout", nth=2, seconds=3600))
    with fs.open("/file") as stream:
        with pytest.raises(TimeoutError):
            _read(stream, 5000)
        assert _read(stream, 5000) == DATA[:5000]


@pytest.mark.parametrize("kind", ["reset", "timeout", "descriptors"])
def test_an_open_fails_with_its_path(fs: FaultyLocalFileSystem, kind: str) -> None:
    """As every failure of an open does; the next one goes well."""
    _plan(fs, Fault(kind))
    with pytest.raises(PathIOException, match=r": '/file'$"):
        fs.open("/file")
    fs.open("/file").close()
    assert (fs.injector.requests, fs.injector.fired) == (2, 1)


def test_descriptors_are_missed_by_opens_alone(fs: FaultyLocalFileSystem) -> None:
    """A file that is open is read on; after unbuffer it has to be opened again."""
    _plan(fs, Fault.descriptors(nth=2))
    with fs.open("/file") as stream:
        assert stream.read_byte() == DATA[0]
        stream.unbuffer()
        with pytest.raises(OSError, match=os.strerror(errno.EMFILE)):
            stream.read_byte()
        assert stream.get_pos() == 1
        assert stream.read_byte() == DATA[1]


def test_a_hang_lasts_until_the_plan_is_taken_away(fs: FaultyLocalFileSystem) -> None:
    """And then the read gives what it should have given."""
    _plan(fs, Fault("hang", nth=2))
    results: list[bytes] = []
    with fs.open("/file") as stream:
        thread = threading.Thread(target=lambda: results.append(_read(stream, 5000)))
        thread.start()
        while not fs.injector.fired:
            thread.join(0.001)
        assert results == []
        fs.injector.detach()
        thread.join()
    assert results == [DATA[:5000]]


def test_a_hang_ends_by_itself_when_its_time_is_over(fs: FaultyLocalFileSystem) -> None:
    """There is no timeout: the answer arrives."""
    _plan(fs, Fault("hang", seconds=0.01), Fault("hang", nth=2, seconds=0.01))
    with fs.open("/file") as stream:
        assert _read(stream, 5000) == DATA[:5000]
    assert fs.injector.fired == 2


def test_a_changed_file_has_other_bytes_and_tells(fs: FaultyLocalFileSystem) -> None:
    """The status and later opens show the change."""
    status = fs.get_file_status("/file")
    _plan(fs, Fault("change", nth=2, times=9))
    with fs.open("/file") as stream:
        assert _read(stream, 5000) == replacement(DATA)[:5000]
        assert _read(stream, 1000) == replacement(DATA)[5000:6000]
        stream.unbuffer()
        with pytest.raises(RemoteFileChangedException):
            stream.read_byte()
    assert fs.injector.fired == 1, "once in a plan"
    now = fs.get_file_status("/file")
    assert (now.length, now.etag) != (status.length, status.etag)
    assert now.length == status.length


def test_a_cut_file_ends_in_its_middle(fs: FaultyLocalFileSystem) -> None:
    """Once in a plan, however often the fault strikes."""
    _plan(fs, Fault("cut", nth=3, times=9))
    with fs.open("/file") as stream:
        assert _read(stream, 4200) == DATA[:4200]
        assert _read(stream, 4200) == DATA[4200:4500]
        assert _read(stream, 4200) == b""
    assert fs.get_file_status("/file").length == 4500
    assert fs.injector.fired == 1


def test_a_deleted_file_can_not_be_opened_but_is_read_on(fs: FaultyLocalFileSystem) -> None:
    """As POSIX has it."""
    _plan(fs, Fault("delete", nth=2, times=9))
    with fs.open("/file") as stream:
        assert _read(stream, 5000) == DATA[:5000]
        with pytest.raises(FileNotFoundException):
            fs.open("/file")
    assert fs.injector.fired == 1


def test_permission_is_taken_away_and_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user who may read everything sees no error, but the file's mode shows the fault."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    fs = FaultyLocalFileSystem(str(tmp_path))
    assert "revoke" in fs.injector.kinds
    file = tmp_path / "file"
    file.write_bytes(DATA)
    file.chmod(0o640)
    _plan(fs, Fault("revoke", nth=2, times=9))
    with fs.open("/file") as stream:
        stream.read_byte()
    assert file.stat().st_mode & 0o777 == 0o200
    assert fs.injector.fired == 1
    fs.injector.detach()
    assert file.stat().st_mode & 0o777 == 0o640


def test_permission_is_no_fault_for_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault that changes nothing would pass every check."""
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)
    local = {name for name, kind in FAULTS.items() if "local" in kind.places}
    assert FaultyLocalFileSystem(str(tmp_path)).injector.kinds == local - {"revoke"}


def test_what_is_no_file_is_left_alone(fs: FaultyLocalFileSystem) -> None:
    """Faults that change files strike a directory in vain."""
    fs.mkdirs("/directory")
    _plan(fs, Fault("delete"), Fault("change", nth=2), Fault("cut", nth=3))
    for _ in range(3):
        with pytest.raises(FileNotFoundException):
            fs.open("/directory")
    assert fs.injector.fired == 0


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="descriptors are counted on Linux")
def test_no_descriptor_is_left(fs: FaultyLocalFileSystem) -> None:
    """Also of opens and reads that failed."""
    before = len(os.listdir("/proc/self/fd"))
    for at in range(1, 8):
        _plan(fs, Fault("reset", nth=at), Fault("descriptors", nth=at + 1))
        try:
            with fs.open("/file") as stream:
                stream.read_byte()
                stream.unbuffer()
                stream.read_fully(0, bytearray(9000))
        except OSError:
            pass
    assert len(os.listdir("/proc/self/fd")) == before


KINDS = ("short", "reset", "timeout", "descriptors")


@given(fault_plans(KINDS), st.sampled_from(["positioned", "portable"]))
def test_a_reader_that_tries_again_gets_every_byte(
    tmp_path_factory: pytest.TempPathFactory, plan: FaultPlan, strategy: str
) -> None:
    """Faults that pass lose nothing and add nothing."""
    root = tmp_path_factory.getbasetemp() / f"again-{strategy}"
    root.mkdir(exist_ok=True)
    (root / "file").write_bytes(DATA)
    fs = FaultyLocalFileSystem(str(root), strategy)
    data, stream = b"", None
    with fs.injector.attached(plan):
        for _ in range(100):
            try:
                stream = stream or fs.open("/file")
                if not (more := _read(stream, 2500)):
                    break
                data += more
                stream.unbuffer()
            except OSError:
                continue
    assert stream is not None
    stream.close()
    assert data == DATA
    assert isinstance(fs, LocalFileSystem)
