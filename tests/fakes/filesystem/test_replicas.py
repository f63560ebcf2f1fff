"""Copies of blocks: corrupt ones, lost ones, and how a stream goes round them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fscontract.contract.api.errors import FileNotFoundException, IllegalArgumentException
from fscontract.contract.program.content import content
from fscontract.fakes.filesystem.filesystem import FakeFileSystem

from .support import outcomes, pread, read, replicas

DATA = content(1000)


def filesystem(replicas: int = 3) -> FakeFileSystem:
    """A filesystem with DATA at /a, in ten blocks."""
    fs = FakeFileSystem(block_size=100, replicas=replicas)
    fs.write("/a", DATA)
    return fs


def test_a_corrupt_copy_is_noticed_and_another_one_read() -> None:
    """The checksum is that of the bytes as they were written."""
    fs = filesystem()
    fs.corrupt("/a", block=3)
    with fs.open("/a") as stream:
        assert pread(stream, 0, 1000) == DATA
        assert pread(stream, 310, 20) == DATA[310:330], "the stream remembers the good one"
    assert replicas(fs) == [0, 0, 1, 0, 1]
    assert [r.offset for r in fs.store.requests if r.operation == "get"] == [0, 300, 300, 400, 310]


def test_a_lost_copy_is_read_from_another_replica() -> None:
    """Reads of several blocks end before it."""
    fs = filesystem()
    fs.lose("/a", block=1, replica=0)
    fs.lose("/a", block=1, replica=1)
    assert read(fs, "/a") == DATA
    assert outcomes(fs) == ["ok", "lost", "lost", "ok", "ok"]


@pytest.mark.parametrize("damage", ["corrupt", "lose"])
def test_a_block_without_a_good_copy_is_an_error(damage: str) -> None:
    """Not wrong bytes, and not an end; the blocks beside it can be read."""
    fs = filesystem(replicas=2)
    for replica in range(2):
        getattr(fs, damage)("/a", 5, replica)
    with fs.open("/a", buffer_size=0) as stream:
        stream.seek(450)
        with pytest.raises(OSError, match="/a") as caught:
            stream.read_into(bytearray(100))
        assert not isinstance(caught.value, EOFError)
        assert stream.get_pos() == 450
        assert pread(stream, 400, 100) == DATA[400:500]
        assert pread(stream, 600, 400) == DATA[600:]


def test_a_stream_can_be_sent_to_each_replica_once() -> None:
    """Then there is no other source; other blocks have theirs still."""
    fs = filesystem(replicas=3)
    with fs.open("/a") as stream:
        stream.seek(250)
        stream.read_byte()
        found = []
        while stream.seek_to_new_source(299):
            found.append(stream.read_byte())
        assert bytes(found) == DATA[251:253]
        assert stream.get_pos() == 253
        assert stream.seek_to_new_source(300)
    assert replicas(fs)[0] == 0
    assert {*replicas(fs)} == {0, 1, 2}


@pytest.mark.parametrize("position", [-1, 1000, 2**70])
def test_there_is_no_source_where_there_is_no_data(position: int) -> None:
    """Nor any error."""
    with filesystem().open("/a") as stream:
        assert stream.seek_to_new_source(position) is False


def test_a_lost_copy_is_no_new_source() -> None:
    """A True would promise data."""
    fs = filesystem(replicas=2)
    fs.lose("/a", block=0, replica=1)
    with fs.open("/a") as stream:
        assert stream.seek_to_new_source(0) is False
        assert stream.seek_to_new_source(100) is True


def test_one_replica_is_no_choice() -> None:
    """As for most stores."""
    with filesystem(1).open("/a") as stream:
        assert stream.seek_to_new_source(0) is False


@pytest.mark.parametrize(("block", "replica"), [(10, 0), (-1, 0), (0, 3), (0, -1)])
def test_only_what_is_there_can_be_damaged(block: int, replica: int) -> None:
    """A test that damages nothing would show nothing."""
    fs = filesystem()
    for damage in (fs.corrupt, fs.lose):
        with pytest.raises(IllegalArgumentException):
            damage("/a", block, replica)
        with pytest.raises(FileNotFoundException):
            damage("/missing")


@given(
    size=st.integers(0, 40),
    block_size=st.integers(1, 12),
    damaged=st.sets(st.tuples(st.integers(0, 39), st.integers(0, 2), st.booleans())),
    reads=st.lists(st.tuples(st.integers(0, 41), st.integers(1, 42))),
    leaves=st.lists(st.integers(0, 41), max_size=4),
)
def test_every_replica_gives_the_bytes_of_the_file(
    size: int,
    block_size: int,
    damaged: set[tuple[int, int, bool]],
    reads: list[tuple[int, int]],
    leaves: list[int],
) -> None:
    """Whatever copies are damaged, as long as the last one is good."""
    data = content(size)
    fs = FakeFileSystem(block_size=block_size, replicas=4)
    fs.write("/a", data)
    for block, replica, lost in damaged:
        if block * block_size < size:
            (fs.lose if lost else fs.corrupt)("/a", block, replica)
    with fs.open("/a", buffer_size=5) as stream:
        for position in leaves:
            stream.seek_to_new_source(position)
        for position, length in reads:
            assert pread(stream, position, length) == data[position : position + length]
        assert bytes(stream.read_byte() for _ in range(size)) == data
        assert stream.read_byte() == -1
