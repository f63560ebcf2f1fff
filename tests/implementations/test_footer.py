"""Tests of the footer of a local file, which a stream caches for positioned reads."""

from __future__ import annotations

import os
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fscontract.contract.api.filesystem import FSDataInputStream
from fscontract.contract.api.openfile_options import FOOTER_CACHE, READ_POLICY
from fscontract.contract.program.content import content, replacement
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.local_stream import FOOTER

from .support import write

DATA = content(3 * FOOTER)
TAIL = len(DATA) - FOOTER


def opened(local: LocalFileSystem, data: bytes = DATA, policy: str = "orc") -> FSDataInputStream:
    """Return a stream on a new file under a policy that caches footers."""
    write(local, "/file", data)
    return local.open_file("/file").opt(READ_POLICY, policy).build().result()


def preads(stream: FSDataInputStream, position: int, size: int = 8) -> bytes:
    """Return the bytes of a positioned read."""
    buffer = bytearray(size)
    return bytes(buffer[: max(0, stream.pread(position, buffer))])


def requests(stream: FSDataInputStream) -> int:
    """Return the number of reads of the file."""
    return stream.io_statistics()["store_io_request"]


@pytest.mark.parametrize(
    ("policy", "asked", "kept"),
    [
        ("parquet", None, True),
        ("orc", None, True),
        ("orc", False, False),
        ("csv", None, False),
        ("csv", True, True),
        ("default", None, False),
        ("default", True, True),
    ],
)
def test_it_is_kept_where_policy_or_option_say_so(
    local: LocalFileSystem, policy: str, asked: bool | None, kept: bool
) -> None:
    """The option overrides the policy's default."""
    write(local, "/file", DATA)
    builder = local.open_file("/file").opt(READ_POLICY, policy)
    if asked is not None:
        builder.opt(FOOTER_CACHE, asked)
    with builder.build().result() as stream:
        assert [preads(stream, len(DATA) - n) for n in (8, 16)] == [DATA[-8:], DATA[-16:-8]]
        assert requests(stream) == (1 if kept else 2)


def test_reads_agree_at_every_boundary(local: LocalFileSystem) -> None:
    """Around the start and the end of the footer, for files of all sizes."""
    for size in (1, 7, FOOTER - 1, FOOTER, FOOTER + 1, len(DATA)):
        data = DATA[:size]
        with opened(local, data) as stream:
            for _ in range(2):
                for near in (0, max(0, size - FOOTER), size):
                    for position in range(max(0, near - 9), near + 3):
                        assert preads(stream, position) == data[position : position + 8]


def test_read_that_begins_before_the_footer_uses_the_file(local: LocalFileSystem) -> None:
    """A read never combines both."""
    with opened(local) as stream:
        preads(stream, TAIL)
        Path(local.root, "file").write_bytes(replacement(DATA))
        assert preads(stream, TAIL) == DATA[TAIL : TAIL + 8]
        assert preads(stream, TAIL - 1) == replacement(DATA)[TAIL - 1 : TAIL + 7]


def test_stream_reads_leave_it_alone(local: LocalFileSystem) -> None:
    """They use a separate buffer."""
    with opened(local) as stream:
        stream.seek(len(DATA) - 8)
        assert stream.read_byte() == DATA[-8]
        assert preads(stream, len(DATA) - 8) == DATA[-8:]
        assert requests(stream) == 2
        Path(local.root, "file").write_bytes(replacement(DATA))
        stream.seek(TAIL)
        buffer = bytearray(1 << 14)
        assert stream.read_into(buffer) == len(buffer)
        assert buffer == replacement(DATA)[TAIL : TAIL + len(buffer)]


@pytest.mark.parametrize("policy", ["orc", "default"])
def test_the_way_of_positioned_reads_does_not_stay_open(
    local: LocalFileSystem, policy: str
) -> None:
    """A closed stream returns nothing, with or without footer."""
    stream = opened(local, policy=policy)
    preads(stream, TAIL)
    stream.close()
    with pytest.raises(OSError, match="closed"):
        preads(stream, TAIL)
    assert vars(stream)["_footer"] is None


def test_unbuffer_lets_go_of_it(local: LocalFileSystem) -> None:
    """The next read fetches it again, and so detects a change."""
    with opened(local) as stream:
        preads(stream, TAIL)
        stream.unbuffer()
        assert vars(stream)["_footer"] is None
        assert preads(stream, TAIL) == DATA[TAIL : TAIL + 8]
        assert requests(stream) == 2
        stream.unbuffer()
        os.utime(Path(local.root, "file"), ns=(1, 1))
        with pytest.raises(OSError, match="changed"):
            preads(stream, TAIL)


def test_footer_read_during_close_is_not_kept(local: LocalFileSystem) -> None:
    """Otherwise it would never be released."""
    with opened(local) as stream:
        true = stream._read_at  # type: ignore[attr-defined]

        def read_and_close(position: int, view: memoryview) -> int:
            count: int = true(position, view)
            stream.close()
            return count

        stream._read_at = read_and_close  # type: ignore[attr-defined]
        assert preads(stream, TAIL) == DATA[TAIL : TAIL + 8]
        assert vars(stream)["_footer"] is None


def test_footer_of_a_truncated_file(local: LocalFileSystem) -> None:
    """Reads end where the file ended when the footer was read."""
    with opened(local) as stream:
        os.truncate(Path(local.root, "file"), TAIL + 5)
        assert preads(stream, TAIL) == DATA[TAIL : TAIL + 5]
        assert preads(stream, TAIL + 5) == b""
        with pytest.raises(EOFError):
            stream.read_fully(TAIL, bytearray(6))


def test_threads_share_it(local: LocalFileSystem) -> None:
    """While one thread repeatedly releases it."""
    with opened(local) as stream:
        chance = random.Random(1)
        places = [chance.randrange(TAIL - 100, len(DATA) - 8) for _ in range(2000)]

        def check(position: int) -> bool:
            if position % 50 == 0:
                stream.unbuffer()
            return preads(stream, position) == DATA[position : position + 8]

        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(check, places))
