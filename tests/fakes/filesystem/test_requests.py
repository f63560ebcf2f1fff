"""The log of requests as a table, and budgets."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.fakes import FakeFileSystem, Fault, Latency
from fscontract.fakes.filesystem.requests import MOST_ROWS


@pytest.fixture
def fs() -> FakeFileSystem:
    """A filesystem after an open and two reads, the first of which was retried."""
    fs = FakeFileSystem(latency=Latency(0.5, 0))
    fs.write("/a", b"hello")
    fs.attach(Fault.reset(operation="get"))
    with fs.open("/a", buffer_size=0) as stream:
        stream.read_fully(0, bytearray(5))
        stream.read_fully(1, bytearray(2))
    return fs


def test_requests_are_a_table(fs: FakeFileSystem) -> None:
    assert str(fs.requests) == snapshot("""\
   operation  path  range   at  seconds  outcome
1  open       /a             0      0.5  ok
2  get        /a      0+5  0.5      0.5  reset
3  get        /a      0+5  1.1      0.5  ok
4  get        /a      1+2  1.6      0.5  ok\
""")
    assert str(FakeFileSystem().requests) == "no requests"


def test_long_table_leaves_out_the_middle(fs: FakeFileSystem) -> None:
    for _ in range(MOST_ROWS):
        fs.get_file_status("/a")
    lines = str(fs.requests).splitlines()
    assert len(lines) == MOST_ROWS + 2
    assert lines[MOST_ROWS // 2 + 1] == "... 4 requests left out"
    assert lines[-1].startswith(f"{MOST_ROWS + 4}  head")


def test_control_characters_of_a_path_are_escaped() -> None:
    fs = FakeFileSystem()
    fs.write("/a\x1b[31m", b"")
    fs.get_file_status("/a\x1b[31m")
    assert "\x1b" not in str(fs.requests)


def test_right_budget_passes(fs: FakeFileSystem) -> None:
    fs.assert_requests(open=1, get=3, head=0)
    fs.assert_requests(total=4)
    fs.store.forget()
    fs.assert_requests(total=0)


def test_wrong_budget_fails_with_the_requests(fs: FakeFileSystem) -> None:
    with pytest.raises(AssertionError) as caught:
        fs.assert_requests(get=1, head=1, open=1)
    assert str(caught.value) == f"requests: get=3 (expected 1), head=0 (expected 1)\n{fs.requests}"
    with pytest.raises(AssertionError, match=r"requests: total=4 \(expected 5\)"):
        fs.assert_requests(total=5)


def test_invalid_budget_is_refused_with_what_is_allowed(fs: FakeFileSystem) -> None:
    messages = []
    for budgets in ({"gets": 1}, {}, {"get": -1}, {"get": True}):
        with pytest.raises(IllegalArgumentException) as caught:
            fs.assert_requests(**budgets)
        messages.append(str(caught.value))
    allowed = (
        "open, get, head, list, put, part, complete, delete, rename, mkdirs, permission, access, "
        "total"
    )
    assert messages == [
        f"unknown operation 'gets'; allowed: {allowed}; did you mean get?",
        f"expected a number for one of {allowed}",
        "get must be a number of requests, got -1",
        "get must be a number of requests, got True",
    ]
