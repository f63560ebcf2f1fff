"""The kinds of faults that only the fake has: wrong bytes, time, limits, and writes."""

from __future__ import annotations

import errno
from collections.abc import Iterator

import pytest

from fscontract.fakes import FakeFileSystem, Fault, FaultPlan, Latency
from fscontract.fakes.filesystem.fault_effects import TokenBucket

from .support import outcomes, pread, read

DATA = bytes(range(200))
OLD = bytes(reversed(range(56, 256)))
#: What a reader gets in the place of DATA.
WRONG = {
    "bytes": bytes(byte ^ 0xFF for byte in DATA),
    "order": DATA[::-1],
    "version": OLD,
    "zeros": bytes(200),
}


@pytest.fixture
def fs() -> FakeFileSystem:
    """A filesystem with two versions of /a, whose requests take no time and are not retried."""
    fs = FakeFileSystem(block_size=100, retries=0, latency=Latency(0, 0))
    fs.write("/a", OLD)
    fs.write("/a", DATA)
    return fs


@pytest.fixture
def unchecked(fs: FakeFileSystem) -> FakeFileSystem:
    """The same without checksums."""
    return fs.view(checksums=False)


class TestCorruption:
    @pytest.mark.parametrize("how", WRONG)
    def test_silent_corruption_is_read(self, fs: FakeFileSystem, how: str) -> None:
        fs.attach(Fault("corrupt", how=how, silent=True))
        assert read(fs, "/a") == WRONG[how]
        assert read(fs, "/a") == DATA
        assert fs.injector.fired == 1

    @pytest.mark.parametrize("how", [*WRONG, "tail"])
    def test_checksums_show_corruption(self, fs: FakeFileSystem, how: str) -> None:
        fs.attach(Fault("corrupt", how=how, times=9, offset=0))
        with pytest.raises(OSError, match=r"checksum|ended after"):
            read(fs, "/a")
        fs.attach(Fault("corrupt", how=how))
        assert read(fs.view(retries=1), "/a") == DATA

    @pytest.mark.parametrize("how", WRONG)
    def test_without_checksums_corruption_is_read(
        self, unchecked: FakeFileSystem, how: str
    ) -> None:
        unchecked.attach(Fault("corrupt", how=how))
        assert read(unchecked, "/a") == WRONG[how]

    def test_missing_tail_of_an_answer_is_a_short_read(self, fs: FakeFileSystem) -> None:
        fs.attach(Fault.corrupt("tail", silent=True))
        assert read(fs, "/a") == DATA
        assert [request.offset for request in fs.requests if request.operation == "get"] == [0, 100]

    @pytest.mark.parametrize("how", [*WRONG, "tail"])
    def test_silently_corrupt_write_stores_wrong_bytes(self, fs: FakeFileSystem, how: str) -> None:
        """They have the checksums of wrong bytes."""
        fs.write("/a", OLD)
        fs.attach(Fault("corrupt", how=how, silent=True, operation="put"))
        with fs.create("/a") as file:
            file.write(DATA)
        assert fs.injector.fired == 1
        assert read(fs, "/a") == (DATA[:100] if how == "tail" else WRONG[how])

    @pytest.mark.parametrize("how", [*WRONG, "tail"])
    def test_corrupt_write_is_noticed_by_readers(self, fs: FakeFileSystem, how: str) -> None:
        fs.attach(Fault("corrupt", how=how, operation="put"))
        with fs.create("/a") as file:
            file.write(OLD if how == "version" else DATA)
        fs.attach()
        if how == "version":  # the version before has other bytes
            assert read(fs.view(checksums=False), "/a") == DATA
        with pytest.raises(OSError, match=r"checksum|ended after"):
            read(fs, "/a")

    @pytest.mark.parametrize("fault", [Fault.corrupt("version"), Fault.corrupt("order")], ids=str)
    def test_damage_that_changes_nothing_does_not_count(
        self, fs: FakeFileSystem, fault: Fault
    ) -> None:
        fs.write("/new", b"x")
        fs.attach(fault)
        assert read(fs, "/new") == b"x"
        assert fs.injector.fired == 0
        assert fs.injector._firing.why(fault) == "it had no effect on its requests"


class TestTime:
    def test_stall_stops_the_body(self, fs: FakeFileSystem) -> None:
        with fs.open("/a", buffer_size=0) as stream:
            fs.attach(Fault.stall(100, seconds=30, times="all"))
            assert pread(stream, 0, 100) == DATA[:100]
            assert fs.clock.now == 0
            assert pread(stream, 0, 101) == DATA[:101]
            assert fs.clock.now == 30
            fs.attach(Fault.stall(100))
            with pytest.raises(TimeoutError, match="no answer after 60 s"):
                pread(stream, 0, 101)

    @pytest.mark.parametrize("distribution", ["uniform", "exponential", "pareto"])
    def test_jitter_has_its_mean_and_depends_on_the_seed(
        self, fs: FakeFileSystem, distribution: str
    ) -> None:
        def delays(seed: int) -> list[float]:
            fs.store.forget()
            fs.attach(Fault("jitter", seconds=2, distribution=distribution, seed=seed))
            for _ in range(400):
                fs.get_file_status("/a")
            return [request.seconds for request in fs.requests]

        first = delays(7)
        assert first == delays(7) != delays(8)
        assert 1.5 < sum(first) / len(first) < 2.5
        assert len(set(first)) > 350

    def test_outage_lasts_for_its_period(self, fs: FakeFileSystem) -> None:
        """The clock is the test's."""
        fs.attach(Fault.reset(during=slice(10, 40)))
        states = []
        for _ in range(5):
            try:
                fs.get_file_status("/a")
                states.append("up")
            except ConnectionResetError:
                states.append("down")
            fs.clock.advance(10)
        assert states == ["up", "down", "down", "down", "up"]

    def test_client_with_retries_outlasts_a_short_outage(self, fs: FakeFileSystem) -> None:
        fs.attach(Fault.reset(during=slice(0, 0.25)))
        assert read(fs.view(retries=3), "/a") == DATA
        assert outcomes(fs, "open") == ["reset", "reset", "ok"]


class TestLimits:
    def test_token_bucket_admits_a_burst_and_then_its_rate(self) -> None:
        bucket = TokenBucket(rate=4, burst=2, now=0)
        assert [bucket.wait(0), bucket.wait(0), bucket.wait(0)] == [0, 0, 0.25]
        assert [bucket.wait(0.25), bucket.wait(0.25)] == [0, 0.25]
        assert [bucket.wait(100), bucket.wait(100), bucket.wait(100)] == [0, 0, 0.25]

    def test_requests_beyond_the_rate_are_told_when_to_come_back(self, fs: FakeFileSystem) -> None:
        fs.attach(Fault.rate_limit(2, burst=1))
        fs.get_file_status("/a")
        with pytest.raises(OSError, match=r"asks to wait for 0\.5 s"):
            fs.get_file_status("/a")
        fs.clock.advance(0.5)
        fs.get_file_status("/a")
        patient = fs.view(retries=1)
        start = fs.clock.now
        for _ in range(4):
            patient.get_file_status("/a")
        assert fs.clock.now - start == 2

    def test_rate_limit_counts_the_requests_of_its_aim(self, fs: FakeFileSystem) -> None:
        fs.attach(Fault.rate_limit(1, operation="list"))
        for _ in range(3):
            fs.get_file_status("/a")
        list(fs.list_status("/"))
        with pytest.raises(OSError, match="asks to wait"):
            fs.list_status("/")

    def test_new_plan_has_a_full_bucket(self, fs: FakeFileSystem) -> None:
        for _ in range(2):
            fs.attach(Fault.rate_limit(1, burst=2))
            fs.get_file_status("/a")
            fs.get_file_status("/a")
        assert fs.injector.fired == 0

    def test_credentials_expire_in_the_middle(self, fs: FakeFileSystem) -> None:
        with fs.open("/a", buffer_size=0) as stream:
            fs.attach(Fault.expired(nth=2))
            assert stream.read_byte() == DATA[0]
            for _ in range(2):
                with pytest.raises(PermissionError, match="credentials have expired"):
                    stream.read_byte()
            fs.detach()
            assert stream.read_byte() == DATA[1]
        assert outcomes(fs) == ["ok", "expired", "expired", "ok"]


def write(fs: FakeFileSystem, path: str, data: bytes) -> None:
    """Write a file with a request."""
    with fs.create(path) as file:
        file.write(data)


class TestWrites:
    def test_quota_refuses_what_does_not_fit(self, fs: FakeFileSystem) -> None:
        fs.attach(Fault.quota(100))
        write(fs, "/b", bytes(60))
        with pytest.raises(OSError, match="quota of 100 bytes is exceeded: '/c'") as caught:
            write(fs, "/c", bytes(60))
        assert caught.value.errno == errno.EDQUOT
        write(fs, "/d", bytes(40))
        assert [status.path for status in fs.list_status("/")] == ["/a", "/b", "/d"]
        assert outcomes(fs, "put") == ["ok", "quota", "ok"]

    def test_failed_close_writes_nothing(self, fs: FakeFileSystem) -> None:
        """A file of the fake is written by its close."""
        fs.attach(Fault.reset(operation="put"))
        file = fs.create("/b")
        file.write(b"x")
        with pytest.raises(ConnectionResetError):
            file.close()
        assert [status.path for status in fs.list_status("/")] == ["/a"]
        assert fs.open_handles == ()

    def test_partial_write_leaves_the_beginning(self, fs: FakeFileSystem) -> None:
        fs.attach(Fault.partial_write(3))
        with pytest.raises(ConnectionResetError, match="reset after 3 bytes"):
            write(fs, "/b", b"hello")
        assert read(fs, "/b") == b"hel"
        write(fs, "/b", b"hello")
        assert read(fs, "/b") == b"hello"

    def test_write_that_fits_in_its_beginning_is_not_partial(self, fs: FakeFileSystem) -> None:
        fs.attach(Fault.partial_write(5))
        write(fs, "/b", b"hello")
        assert (read(fs, "/b"), fs.injector.fired) == (b"hello", 0)

    def test_lost_acknowledgement_of_a_write_that_took_place(self, fs: FakeFileSystem) -> None:
        fs.attach(Fault.lost_ack(operation="put"))
        with pytest.raises(ConnectionResetError, match="reset before the answer"):
            write(fs, "/b", b"hello")
        assert read(fs, "/b") == b"hello"
        assert outcomes(fs, "put") == ["lost-ack"]

    def test_retry_after_a_lost_acknowledgement_meets_its_own_effect(
        self, fs: FakeFileSystem
    ) -> None:
        patient = fs.view(retries=1)
        fs.attach(Fault.lost_ack(nth=1), Fault.lost_ack(nth=3))
        assert not patient.delete("/a"), "the first attempt has deleted it"
        with patient.create("/b", overwrite=False) as file:
            file.write(b"x")
            with pytest.raises(FileExistsError):
                file.close()
        assert read(fs, "/b") == b"x"

    def test_lost_ack_of_a_request_that_failed_does_not_count(self, fs: FakeFileSystem) -> None:
        fs.attach(Fault.lost_ack())
        with pytest.raises(FileNotFoundError):
            fs.rename("/missing", "/b")
        assert fs.injector.fired == 0


@pytest.fixture
def sharing(fs: FakeFileSystem) -> Iterator[tuple[FakeFileSystem, FakeFileSystem]]:
    """Two clients of one store under a quota."""
    fs.attach(FaultPlan((Fault.quota(5),)))
    yield fs, fs.view(retries=2)
    fs.detach()


def test_clients_of_one_store_share_a_quota(
    sharing: tuple[FakeFileSystem, FakeFileSystem],
) -> None:
    one, other = sharing
    write(one, "/b", bytes(3))
    with pytest.raises(OSError, match="quota"):
        write(other, "/c", bytes(3))
