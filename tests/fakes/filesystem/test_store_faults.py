"""Effects of faults on the fake filesystem, and the reactions of its streams."""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fscontract.contract.api.errors import (
    AccessControlException,
    FileNotFoundException,
    PathIOException,
    RemoteFileChangedException,
)
from fscontract.contract.api.filesystem import FSDataInputStream
from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.content import content, replacement
from fscontract.contract.program.fault_firing import Turn
from fscontract.contract.program.faults import FAULTS, Fault, FaultPlan
from fscontract.fakes.filesystem.filesystem import FakeFileSystem
from fscontract.fakes.filesystem.requests import Latency

from .support import outcomes, plan, pread, read, replicas

DATA = content(1000)
#: The faults that cost time or bytes and are over when another request is made.
PASSING = ["reset", "timeout", "throttle", "cut-body", "corrupt", "hang"]
#: The faults that end a stream, with what it raises.
FINAL = {
    "change": RemoteFileChangedException,
    "cut": RemoteFileChangedException,
    "precondition": RemoteFileChangedException,
    "delete": FileNotFoundException,
    "revoke": AccessControlException,
    "range": PathIOException,
}


@pytest.fixture(autouse=True)
def no_real_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever waits, waits on the logical clock.

    Threads that another test left in this process, such as py4j's, sleep as they like.
    """
    strangers = set(threading.enumerate()) - {threading.current_thread()}
    sleep = time.sleep

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("somebody really waits")

    def refuse_the_test(seconds: float) -> None:
        if threading.current_thread() not in strangers:
            refuse()
        sleep(seconds)

    with monkeypatch.context() as patched:
        patched.setattr(time, "sleep", refuse_the_test)
        patched.setattr(Turn, "wait", refuse)
        yield


@pytest.fixture
def fs() -> FakeFileSystem:
    """A filesystem with DATA at /a, in ten blocks, whose requests take no time."""
    fs = FakeFileSystem(block_size=100, latency=Latency(0, 0))
    fs.write("/a", DATA)
    return fs


class TestSurvival:
    @pytest.mark.parametrize("kind", PASSING)
    def test_what_passes_is_survived(self, fs: FakeFileSystem, kind: str) -> None:
        """Up to three times in a row, for as many retries."""
        with fs.open("/a", buffer_size=0) as stream:
            fs.attach(plan(Fault(kind, times=3)))
            stream.seek(50)
            assert stream.read_into(bytearray(100)) == 100
            assert stream.get_pos() == 150
            assert pread(stream, 0, 1000) == DATA
        assert fs.injector.fired == 3
        assert outcomes(fs) == [kind if kind != "hang" else "timeout"] * 3 + ["ok", "ok"]

    @pytest.mark.parametrize("kind", PASSING)
    def test_what_does_not_pass_is_an_error_after_a_few_requests(
        self, fs: FakeFileSystem, kind: str
    ) -> None:
        """The position stays; the stream continues after the fault."""
        with fs.open("/a") as stream:
            stream.seek(50)
            fs.attach(plan(Fault(kind, times=100)))
            for call in (stream.read_byte, lambda: pread(stream, 10, 5)):
                with pytest.raises(OSError, match="/a") as caught:
                    call()
                assert not isinstance(caught.value, EOFError)
            assert (stream.get_pos(), fs.injector.requests) == (50, 8)
            fs.detach()
            assert stream.read_byte() == DATA[50]

    @pytest.mark.parametrize("kind", FINAL)
    def test_what_ends_a_file_is_told_at_once(self, fs: FakeFileSystem, kind: str) -> None:
        """Trying again would not help."""
        with fs.open("/a", buffer_size=0) as stream:
            stream.seek(50)
            fs.attach(plan(Fault(kind)))
            with pytest.raises(FINAL[kind], match="/a"):
                stream.read_byte()
            assert (stream.get_pos(), fs.injector.requests, fs.injector.fired) == (50, 1, 1)

    @pytest.mark.parametrize(
        ("kind", "left"), [("change", replacement(DATA)), ("cut", DATA[:500]), ("revoke", None)]
    )
    def test_who_opens_a_changed_file_gets_what_is_there(
        self, fs: FakeFileSystem, kind: str, left: bytes | None
    ) -> None:
        """A change stays, also once the plan is gone."""
        fs.attach(plan(Fault(kind)))
        fs.get_file_status("/a")
        fs.detach()
        if left is None:
            with pytest.raises(AccessControlException):
                fs.open("/a")
        else:
            assert read(fs, "/a") == left

    @pytest.mark.parametrize("amount", [1, 7, 99, 1000])
    def test_short_answers_are_continued(self, fs: FakeFileSystem, amount: int) -> None:
        """They do not count as failures."""
        fs.attach(plan(Fault("short", times=5000, amount=amount)))
        assert read(fs, "/a") == DATA
        assert len(outcomes(fs)) == -(-1000 // amount)

    def test_a_corrupt_answer_makes_for_another_replica(self, fs: FakeFileSystem) -> None:
        """The damage is one of the answer: fs.corrupt() makes one that stays."""
        with fs.open("/a") as stream:
            fs.attach(plan(Fault("corrupt", times=2)))
            assert pread(stream, 0, 50) == DATA[:50]
        assert replicas(fs) == [0, 1, 2]

    @pytest.mark.parametrize("kind", [k for k in PASSING if "list" in FAULTS[k].operations])
    def test_other_requests_are_tried_again_too(self, fs: FakeFileSystem, kind: str) -> None:
        fs.attach(plan(Fault(kind, nth=1, times=3), Fault(kind, nth=5), Fault(kind, nth=7)))
        assert fs.get_file_status("/a").length == 1000
        assert [s.path for s in fs.list_status("/")] == ["/a"]
        fs.open("/a").close()
        assert fs.injector.requests == 8

    def test_operations_that_change_the_store_fail_too(self) -> None:
        """None of them changed anything."""
        fs = FakeFileSystem(retries=0)
        fs.write("/a", b"x")
        fs.attach(plan(Fault.reset(times="all")))
        changes: list[Callable[[], object]] = [
            lambda: fs.mkdirs("/d"),
            fs.create("/b").close,
            lambda: fs.rename("/a", "/c"),
            lambda: fs.delete("/a"),
            lambda: fs.set_permission("/a", 0),
        ]
        for change in changes:
            with pytest.raises(ConnectionResetError):
                change()
        assert fs.injector.fired == 5
        fs.detach()
        assert [status.path for status in fs.list_status("/")] == ["/a"]
        assert read(fs, "/a") == b"x"

    def test_no_descriptor_is_an_error_of_the_open(self, fs: FakeFileSystem) -> None:
        """One that says what it is, and that no retry follows."""
        fs.attach(plan(Fault("descriptors")))
        with pytest.raises(OSError, match="too many open files: '/a'") as caught:
            fs.open("/a")
        assert (caught.value.errno, fs.injector.requests) == (errno.EMFILE, 1)
        with fs.open("/a") as stream:
            assert stream.read_byte() == DATA[0]

    def test_without_retries_the_reader_sees_each_failure(self) -> None:
        """For tests of a client's retries."""
        fs = FakeFileSystem(retries=0)
        fs.write("/a", DATA)
        with fs.open("/a") as stream:
            fs.attach(plan(Fault("reset", times=2)))
            for _ in range(2):
                with pytest.raises(ConnectionResetError):
                    stream.read_byte()
            assert stream.read_byte() == DATA[0]


class TestTime:
    def test_the_store_is_given_the_time_that_it_asks_for(self, fs: FakeFileSystem) -> None:
        with fs.open("/a") as stream:
            fs.attach(plan(Fault("throttle", times=2, seconds=20)))
            stream.read_byte()
        assert fs.clock.now == 40

    def test_nobody_waits_for_longer_than_the_deadline(self, fs: FakeFileSystem) -> None:
        with fs.open("/a") as stream:
            fs.attach(plan(Fault("throttle", seconds=3600)))
            with pytest.raises(OSError, match="asks to wait for 3600 s"):
                stream.read_byte()
        assert fs.clock.now == 0

    def test_retries_come_later_and_later(self, fs: FakeFileSystem) -> None:
        with fs.open("/a") as stream:
            fs.attach(plan(Fault("reset", times=3)))
            stream.read_byte()
        assert fs.clock.now == pytest.approx(0.1 + 0.2 + 0.4)

    def test_an_answer_that_never_comes_is_given_up(self, fs: FakeFileSystem) -> None:
        with fs.open("/a") as stream:
            fs.attach(plan(Fault("hang", times=100)))
            with pytest.raises(TimeoutError, match="no answer after 60 s: '/a'"):
                stream.read_byte()
        assert fs.clock.now == pytest.approx(4 * 60 + 0.7)

    def test_an_answer_that_comes_in_time_is_taken(self, fs: FakeFileSystem) -> None:
        with fs.open("/a") as stream:
            fs.attach(plan(Fault("hang", seconds=59), Fault("slow", nth=2, seconds=0.01)))
            assert stream.read_byte() == DATA[0]
            assert pread(stream, 500, 100) == DATA[500:600]
        assert fs.clock.now == 60
        assert outcomes(fs) == ["hang", "slow"]

    def test_a_slow_answer_times_out_too(self, fs: FakeFileSystem) -> None:
        with fs.open("/a") as stream:
            fs.attach(plan(Fault("slow", times=100, seconds=1)))
            assert pread(stream, 0, 60) == DATA[:60]
            with pytest.raises(TimeoutError):
                pread(stream, 0, 61)


class TestPlans:
    def test_the_fake_can_do_everything(self, fs: FakeFileSystem) -> None:
        """It is what other targets are compared with."""
        assert fs.injector.kinds == FAULTS.keys()

    def test_a_plan_counts_from_where_it_is_attached(self, fs: FakeFileSystem) -> None:
        with fs.open("/a", buffer_size=0) as stream:
            stream.read_byte()
            fs.attach(plan(Fault("precondition", nth=2)))
            assert stream.read_byte() == DATA[1]
            with pytest.raises(RemoteFileChangedException):
                stream.read_byte()
            fs.detach()
            assert stream.read_byte() == DATA[2]

    @pytest.mark.parametrize(
        ("fault", "outcome"),
        [
            (Fault("short", amount=5000), "ok"),
            (Fault("cut-body", amount=1000), "ok"),
            (Fault("delete"), "missing"),
        ],
        ids=str,
    )
    def test_a_fault_without_effect_does_not_count(
        self, fs: FakeFileSystem, fault: Fault, outcome: str
    ) -> None:
        """Else a check would seem to have tried what it has not."""
        path = "/a" if outcome == "ok" else "/missing"
        if outcome == "ok":
            fs.attach(plan(fault))
            assert read(fs, path) == DATA
        else:
            fs.attach(plan(fault))
            with pytest.raises(FileNotFoundException):
                fs.open(path)
        assert (fs.injector.fired, fs.store.requests[-1].outcome) == (0, outcome)

    def test_a_plan_for_something_else_is_refused(self, fs: FakeFileSystem) -> None:
        with pytest.raises(ProgramError):
            FaultPlan.loads('{"faults": [{"kind": "flood"}]}')

    def test_parallel_reads_fail_for_themselves(self, fs: FakeFileSystem) -> None:
        """The request that a fault strikes is retried, without an effect on others."""
        with fs.open("/a") as stream, ThreadPoolExecutor(4) as pool:
            fs.attach(plan(Fault("reset", times=3), Fault("corrupt", nth=5, times=2)))
            reads = [pool.submit(pread, stream, i * 10, 10) for i in range(100)]
            assert b"".join(r.result() for r in reads) == DATA
        assert fs.injector.fired == 5


FAULT = st.sampled_from(sorted(FAULTS)).flatmap(
    lambda name: st.builds(
        Fault,
        st.just(name),
        st.integers(1, 8),
        st.integers(1, 5),
        **{p.name: st.sampled_from(p.values or (None,)) for p in FAULTS[name].parameters.values()},
    )
)
CALLS = st.one_of(
    st.tuples(st.just("read"), st.integers(1, 300)),
    st.tuples(st.just("byte"), st.none()),
    st.tuples(st.just("pread"), st.tuples(st.integers(0, 1010), st.integers(1, 300))),
    st.tuples(st.just("seek"), st.integers(0, 1000)),
    st.tuples(st.just("unbuffer"), st.none()),
    st.tuples(st.just("source"), st.integers(-1, 1001)),
)


def test_a_file_changes_once_in_a_plan(fs: FakeFileSystem) -> None:
    """For any number of requests that the fault could strike, the content is unknown by then."""
    with fs.injector.attached(plan(Fault("change", times=3), Fault("cut", nth=4, times=2))):
        etags = [fs.get_file_status("/a").etag for _ in range(6)]
    assert len(set(etags[:3])) == 1
    assert len(set(etags[3:])) == 1
    assert etags[2] != etags[3]
    assert fs.injector.fired == 2
    with fs.injector.attached(plan(Fault("change"))):
        assert fs.get_file_status("/a").etag != etags[-1]


def call(stream: FSDataInputStream, name: str, argument: Any) -> tuple[int, bytes] | None:
    """Make a call; from where it has read what, if it was to read."""
    position = stream.get_pos()
    if name == "read":
        buffer = bytearray(argument)
        return position, bytes(buffer[: max(0, stream.read_into(buffer))])
    if name == "byte":
        byte = stream.read_byte()
        return position, b"" if byte < 0 else bytes([byte])
    if name == "pread":
        return argument[0], pread(stream, *argument)
    if name == "seek":
        stream.seek(min(argument, stream.available() + position))
    elif name == "unbuffer":
        stream.unbuffer()
    else:
        stream.seek_to_new_source(argument)
    return None


@given(
    faults=st.lists(FAULT, min_size=1, max_size=3),
    calls=st.lists(CALLS, min_size=1, max_size=12),
    buffer_size=st.sampled_from([0, 10, 128]),
    count=st.integers(1, 3),
)
def test_no_plan_makes_for_a_wrong_byte(
    faults: list[Fault], calls: list[tuple[str, Any]], buffer_size: int, count: int
) -> None:
    """Each call works, or is an OSError that moves nothing and tells of no end; all of one
    version; and no call makes requests without end."""
    fs = FakeFileSystem(block_size=128, replicas=count)
    fs.write("/a", DATA)
    fs.attach(plan(*faults))
    try:
        stream = fs.open("/a", buffer_size)
    except OSError as error:
        assert not isinstance(error, EOFError)  # noqa: PT017
        return
    versions = _versions(stream.available())
    with stream:
        for name, argument in calls:
            before, requests = stream.get_pos(), len(fs.store.requests)
            try:
                found = call(stream, name, argument)
            except OSError as error:
                assert not isinstance(error, EOFError)  # noqa: PT017
                assert stream.get_pos() == before
            else:
                if found is not None:
                    position, data = found
                    versions = [v for v in versions if _fits(v, position, data)]
                    assert versions
            assert len(fs.store.requests) - requests <= 330 * 4
        fs.detach()
    assert fs.io_statistics()["stream_read_opened"] == fs.io_statistics()["stream_read_closed"]


def _versions(length: int) -> list[bytes]:
    """Return the versions that may have been opened: a fault may have changed the file just
    before.
    """
    halves = [DATA]
    while len(halves[-1]) > length:
        halves.append(halves[-1][: len(halves[-1]) // 2])
    found = [halves[-1]]
    for _ in range(15):  # as often as three faults strike
        found.append(replacement(found[-1]))
    return found


def _fits(version: bytes, position: int, data: bytes) -> bool:
    """Return whether these are bytes of the version, and empty only at its end."""
    if not data:
        return position >= len(version)
    return version[position : position + len(data)] == data
