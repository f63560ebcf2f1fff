"""Views of one fake filesystem with other settings, and the options of `fake://`."""

from __future__ import annotations

import fsspec
import pytest

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.fakes import Consistency, FakeFileSystem, Fault, Latency

from .support import names, read


def test_view_has_the_same_files_clock_faults_and_log() -> None:
    fs = FakeFileSystem(latency=Latency(1, 0))
    view = fs.view(retries=0)
    view.write("/a", b"x")
    assert read(fs, "/a") == read(view, "/a") == b"x"
    assert (fs.clock.now, len(view.requests)) == (4.0, len(fs.requests))
    fs.attach(Fault.reset())
    with pytest.raises(ConnectionResetError):
        view.open("/a")
    assert fs.injector.fired == view.injector.fired == 1
    stream = view.open("/a")
    assert len(fs.open_handles) == 1
    stream.close()


def test_view_changes_given_settings_only() -> None:
    fs = FakeFileSystem(block_size=10, replicas=2, retries=1)
    view = fs.view(retries=0, block_size=4, latency=Latency(0.25, 0), deadline=3)
    assert (view.retries, view.block_size, view.replicas, view.deadline) == (0, 4, 2, 3)
    assert (fs.retries, fs.block_size) == (1, 10)
    fs.write("/a", bytes(20))
    view.write("/b", bytes(20))
    assert [fs.get_file_status(p).block_size for p in ("/a", "/b")] == [10, 4]
    before = fs.clock.now
    view.get_file_status("/a")
    assert fs.clock.now == before + 0.25
    fs.attach(Fault.hang(10, times="all"))
    with pytest.raises(TimeoutError, match="no answer after 3 s"):
        view.open("/a")


def test_view_has_its_own_consistency() -> None:
    fs = FakeFileSystem()
    fs.write("/old", b"x")
    late = fs.view(consistency=Consistency(list_after=60))
    fs.write("/new", b"x")
    assert (names(fs), names(late)) == (["/new", "/old"], ["/old"])
    fs.clock.advance(60)
    assert names(late) == ["/new", "/old"]


def test_settings_of_a_view_can_not_be_changed() -> None:
    with pytest.raises(AttributeError, match=r"FakeFileSystem\.retries can't be changed"):
        FakeFileSystem().view(retries=0).retries = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"retry": 1}, "^unknown setting 'retry'; allowed: block_size, .*; did you mean retries?"),
        ({"retries": -1}, "^retries must be a whole number of at least 0, not -1$"),
    ],
)
def test_invalid_setting_is_refused(settings: dict[str, int], message: str) -> None:
    with pytest.raises(IllegalArgumentException, match=message):
        FakeFileSystem().view(**settings)
    with pytest.raises(IllegalArgumentException, match=message):
        fsspec.filesystem("fake", **settings)


def test_options_of_a_url_are_settings(fake_filesystem: FakeFileSystem) -> None:
    fake_filesystem.write("/a", b"hello")
    fake_filesystem.attach(Fault.reset(operation="get"))
    with fsspec.open("fake:///a", retries=0) as file, pytest.raises(ConnectionResetError):
        file.read()
    with fsspec.open("fake:///a", use_listings_cache=False) as file:
        assert file.read() == b"hello"
    assert fsspec.filesystem("fake").fs is fake_filesystem
