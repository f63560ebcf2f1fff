"""Settings that can't be changed say so, and how they are given."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.faults import Fault, FaultPlan
from fscontract.fakes.fault_proxy import FaultProxy
from fscontract.fakes.filesystem.filesystem import FakeFileSystem
from fscontract.fakes.filesystem.requests import Latency
from fscontract.fakes.filesystem.tree import Consistency

SETTINGS = ("block_size", "replicas", "latency", "consistency", "retries", "deadline")


def proxy() -> FaultProxy:
    """Return a proxy that was not started."""
    made = FaultProxy("http://127.0.0.1:1")
    made.close()
    return made


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_of_the_fake_can_be_read_and_not_changed(name: str) -> None:
    fs = FakeFileSystem()
    before = getattr(fs, name)
    with pytest.raises(AttributeError) as caught:
        setattr(fs, name, before)
    assert str(caught.value) == (
        f"FakeFileSystem.{name} can't be changed: give it when the object is made, "
        f"FakeFileSystem({name}=...), or for the fixture @pytest.mark.fake_filesystem({name}=...) "
        "of the test"
    )
    assert getattr(fs, name) is before


@pytest.mark.parametrize("name", ["upstream", "matches", "longest", "without"])
def test_a_setting_of_the_proxy_can_not_be_changed(name: str) -> None:
    message = rf"\AFaultProxy.{name} can't be changed: .*, FaultProxy\({name}=...\)\Z"
    with pytest.raises(AttributeError, match=message):
        setattr(proxy(), name, 1)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        *((FakeFileSystem, name) for name in ("clock", "store", "injector")),
        *((proxy, name) for name in ("injector", "url", "requests")),
    ],
)
def test_a_part_can_not_be_replaced(make: Any, name: str) -> None:
    with pytest.raises(AttributeError, match=rf"\.{name} can't be replaced"):
        setattr(make(), name, None)


def test_an_attribute_that_is_not_there_can_not_be_set() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'retrys', did you mean 'retries'\?"):
        FakeFileSystem().retrys = 0  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"no attribute 'xyz'; settings: upstream, "):
        proxy().xyz = 0  # type: ignore[attr-defined]


def test_a_method_can_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """As tests do; it has an effect."""
    fs = FakeFileSystem()
    monkeypatch.setattr(fs, "list_status", lambda _: iter(()))
    assert list(fs.list_status("/none")) == []


def test_a_subclass_may_have_attributes_but_not_change_settings() -> None:
    class Mine(FakeFileSystem):
        def __init__(self) -> None:
            super().__init__(retries=1)
            self.mine = 1

    fs = Mine()
    fs.mine = 2
    with pytest.raises(AttributeError, match=r"FakeFileSystem\.retries can't be changed"):
        fs.retries = 0  # type: ignore[misc]
    assert (fs.mine, fs.retries) == (2, 1)


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (Fault("reset"), "nth"),
        (FaultPlan(), "faults"),
        (Latency(), "request"),
        (Consistency(), "list_after"),
    ],
)
def test_values_are_frozen(made: object, name: str) -> None:
    with pytest.raises(AttributeError, match=f"cannot assign to field '{name}'"):
        setattr(made, name, 1)


@pytest.mark.parametrize("faults", [Fault("reset"), ("reset",), [None], (FaultPlan(),)])
def test_a_plan_takes_faults_only(faults: Any) -> None:
    with pytest.raises(ProgramError, match="faults must be a tuple, got "):
        FaultPlan(faults)


def test_a_plan_keeps_the_faults_that_it_was_given() -> None:
    """A list may change afterwards."""
    faults: Any = [Fault("reset")]
    plan = FaultPlan(faults)
    faults.clear()
    assert plan.faults == (Fault("reset"),)
    assert hash(plan) == hash(FaultPlan((Fault("reset"),)))


@pytest.mark.parametrize(
    "settings",
    [
        *({"block_size": v} for v in (0, 1.5, "1", True)),
        *({"retries": v} for v in (-1, None)),
        *({"deadline": v} for v in (0, "1", float("nan"))),
        *({"latency": v} for v in (0.5, None, Latency)),
        {"consistency": 3},
        {"replicas": 0},
    ],
    ids=repr,
)
def test_settings_that_make_no_sense_are_refused_by_name(settings: dict[str, Any]) -> None:
    (name,) = settings
    with pytest.raises(IllegalArgumentException, match=rf"\A{name} must be "):
        FakeFileSystem(**settings)
