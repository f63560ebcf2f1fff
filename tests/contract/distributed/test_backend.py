"""Backends are found by entry points and started when they are needed."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

import pytest

from fscontract.contract.binding import TargetError
from fscontract.contract.distributed import backend
from fscontract.contract.distributed.backend import BACKENDS, LazyBackend, load_backend
from tests.contract.distributed.conftest import Here


class Closing(Here):
    """A backend that remembers its address, and that it was closed."""

    started: list[str]

    def __init__(self, address: str) -> None:
        super().__init__()
        self.started.append(address)
        self.closed = False

    def close(self) -> None:
        """Remember the call."""
        self.closed = True


def no_backend(address: str) -> object:
    """Return something else than a backend."""
    return object()


@pytest.fixture(autouse=True)
def entries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Offer a backend `here`, one that is none, and one that needs a missing module."""
    Closing.started = []
    module = "tests.contract.distributed.test_backend"
    places = {"here": Closing, "wrong": no_backend}

    def entry_points(group: str, name: str) -> list[Any]:
        assert group == BACKENDS
        if name in places:
            return [_Loaded(places[name])]
        return [EntryPoint(name, f"{module}_missing:make", group)]

    monkeypatch.setattr(backend, "entry_points", entry_points)


class _Loaded:
    """An entry point of an object."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def load(self) -> Any:
        """Return the object."""
        return self._value


def test_backend_is_made_with_its_address() -> None:
    assert isinstance(load_backend("here", "local[2]"), Closing)
    assert Closing.started == ["local[2]"]


def test_backend_that_needs_a_missing_module_names_the_extra() -> None:
    with pytest.raises(TargetError, match=r"fscontract\[spark\]"):
        load_backend("spark", "x")


def test_entry_point_that_gives_no_backend_raises_type_error() -> None:
    with pytest.raises(TypeError, match="wrong"):
        load_backend("wrong", "x")


def test_number_of_running_tasks_is_unknown_by_default() -> None:
    assert Here().running() is None


class TestLazyBackend:
    def test_backend_is_started_once_when_needed(self) -> None:
        lazy = LazyBackend("here", "local[2]")
        assert Closing.started == []
        assert lazy.started() is lazy.started()
        assert Closing.started == ["local[2]"]

    def test_backend_that_was_not_started_is_not_closed(self) -> None:
        LazyBackend("here", "local[2]").close()
        assert Closing.started == []

    def test_close_closes_the_backend(self) -> None:
        lazy = LazyBackend("here", "local[2]")
        started = lazy.started()
        lazy.close()
        assert isinstance(started, Closing)
        assert started.closed
