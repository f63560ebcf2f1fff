"""`mount_fake`, and streams whose reads are short."""

from __future__ import annotations

import gc

import fsspec
import pytest

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.program.content import content
from fscontract.fakes import FakeFileSystem, Fault, mount_fake
from fscontract.fakes.filesystem.filesystem import FakeFsspec

DATA = content(300)


def test_urls_lead_to_the_mounted_filesystem_within_the_block() -> None:
    before = FakeFsspec.shared
    with mount_fake(retries=0) as fake:
        fake.write("/a", b"x")
        assert fsspec.filesystem("fake").fs is fake
        assert fake.retries == 0
    assert FakeFsspec.shared is before


def test_block_ends_with_its_unstruck_faults_and_leaked_handles() -> None:
    opened = []

    def test() -> None:
        with mount_fake() as fake:
            fake.write("/a", b"x")
            fake.attach(Fault.short())
            opened.append(fake.open("/a"))

    with pytest.raises(AssertionError) as caught:
        test()
    assert str(caught.value).splitlines()[:4] == [
        "mount_fake: a fault struck no request",
        "  short at 1: no request matched, get",
        "requests under the plan:",
        "  1 open /a",
    ]
    assert "mount_fake: the test left files open\n  /a opened as 'rb' at " in str(caught.value)
    opened[0].close()


def test_no_garbage_is_collected_for_closed_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a process with thousands of tests, each collection takes a third of a second."""
    collections: list[None] = []
    monkeypatch.setattr(gc, "collect", lambda: collections.append(None))
    with mount_fake() as fake:
        fake.write("/a", b"x")
        fake.open("/a").close()
    assert collections == []


def test_exception_of_the_block_is_not_hidden() -> None:
    before = FakeFsspec.shared

    def test() -> None:
        with mount_fake() as fake:
            fake.attach(Fault.reset())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        test()
    assert FakeFsspec.shared is before


def test_invalid_setting_is_refused() -> None:
    with pytest.raises(IllegalArgumentException, match="short_reads must be True or False, not 1"):
        mount_fake(short_reads=1).__enter__()


@pytest.fixture
def short() -> FakeFileSystem:
    """A filesystem with short reads."""
    fs = FakeFileSystem(short_reads=True)
    fs.write("/a", DATA)
    return fs


def test_short_read_returns_what_one_answer_has(short: FakeFileSystem) -> None:
    short.attach(Fault.short(100, times=2))
    with short.as_fsspec().open("/a") as file:
        assert [file.read(200), file.read(200)] == [DATA[:100], DATA[100:200]]
        assert (file.read(200), file.read(200)) == (DATA[200:], b"")
    with short.open("/a", buffer_size=0) as stream:
        short.attach(Fault.short(100, times="all"))
        assert stream.read_into(bytearray(300)) == 100


def test_short_answers_do_not_shorten_full_and_positioned_reads(short: FakeFileSystem) -> None:
    short.attach(Fault.short(7, times="all"))
    with short.open("/a") as stream:
        buffer = bytearray(300)
        stream.read_fully(0, buffer)
        assert buffer == DATA
        assert stream.pread(100, buffer, 0, 50) == 50
        assert stream.as_file().read() == DATA
