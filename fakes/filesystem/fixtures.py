"""The pytest fixtures of the fakes, and the check that planned faults strike."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from inspect import signature
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from fscontract.contract.program.fault_firing import Firing
    from fscontract.fakes.fault_proxy import FaultProxy
    from fscontract.fakes.filesystem.filesystem import FakeFileSystem

#: The values of the setting for faults that did not strike.
_MODES = ("fail", "warn", "ignore")
_SETTING = "contract_unstruck_faults"
#: The number of requests in a message.
_MOST_LINES = 20


class UnstruckFaultWarning(UserWarning):
    """A plan has a fault that struck no request."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the setting for faults that did not strike."""
    says = "what a fault that struck no request does to its test: fail, warn or ignore"
    parser.addini(_SETTING, says, default="fail")


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, and reject an invalid setting."""
    config.addinivalue_line(
        "markers",
        "fake_filesystem(**settings): settings of the fixture fake_filesystem, those of "
        "FakeFileSystem: block_size, replicas, latency, consistency, retries, deadline",
    )
    config.addinivalue_line(
        "markers",
        "unstruck_faults(mode): what a fault that struck no request does: fail, warn or ignore",
    )
    if config.getini(_SETTING) not in _MODES:
        raise pytest.UsageError(
            f"{_SETTING}: one of {', '.join(_MODES)}, not {config.getini(_SETTING)!r}"
        )


@pytest.fixture
def fake_filesystem(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FakeFileSystem]:
    """Return a new, empty FakeFileSystem; `fake://` URLs refer to it during the test.

    `@pytest.mark.fake_filesystem(retries=0)` passes settings. The test fails if a fault of an
    attached plan struck no request, unless `@pytest.mark.unstruck_faults` sets another action.
    """
    # pytest loads this module at start-up, also for tests that do not use it.
    from fscontract.contract.api.errors import IllegalArgumentException
    from fscontract.fakes.filesystem.filesystem import FakeFileSystem, FakeFsspec

    mode = _mode(request.node)
    try:
        filesystem = FakeFileSystem(**_settings(request.node, signature(FakeFileSystem).parameters))
    except IllegalArgumentException as error:
        pytest.fail(f"@pytest.mark.fake_filesystem: {error}", pytrace=False)
    monkeypatch.setattr(FakeFsspec, "shared", filesystem)
    plans = filesystem.injector.watch()
    yield filesystem
    _hold("fake_filesystem", plans, mode)


@pytest.fixture
def fault_proxy(request: pytest.FixtureRequest) -> Iterator[Callable[..., FaultProxy]]:
    """Return a function that starts FaultProxies, which are closed after the test.

    As with `fake_filesystem`, the test fails if a fault struck no request.
    """
    from fscontract.fakes.fault_proxy import FaultProxy

    mode = _mode(request.node)
    plans: list[list[Firing]] = []
    with ExitStack() as stack:

        def start(*arguments: Any, **settings: Any) -> FaultProxy:
            proxy = stack.enter_context(FaultProxy(*arguments, **settings))
            plans.append(proxy.injector.watch())
            return proxy

        yield start
    _hold("fault_proxy", [plan for watched in plans for plan in watched], mode)


def _settings(node: pytest.Item, known: Iterable[str]) -> dict[str, Any]:
    """Return the arguments of the markers; the closest marker takes precedence."""
    settings: dict[str, Any] = {}
    for marker in node.iter_markers("fake_filesystem"):
        wrong = [*marker.args, *(name for name in marker.kwargs if name not in known)]
        if wrong:
            pytest.fail(
                f"@pytest.mark.fake_filesystem: unknown setting {wrong[0]!r:.40}; settings are "
                f"given by name: {', '.join(known)}",
                pytrace=False,
            )
        settings = {**marker.kwargs, **settings}
    return settings


def _mode(node: pytest.Item) -> str:
    marker = node.get_closest_marker("unstruck_faults")
    if marker is None:
        return str(node.config.getini(_SETTING))
    if len(marker.args) != 1 or marker.kwargs or marker.args[0] not in _MODES:
        pytest.fail(
            f"@pytest.mark.unstruck_faults takes one of {', '.join(map(repr, _MODES))}",
            pytrace=False,
        )
    return str(marker.args[0])


def _hold(fixture: str, plans: list[Firing], mode: str) -> None:
    """Fail or warn if a plan has a fault that struck no request."""
    text = "\n".join(_explained(fixture, plan) for plan in plans if plan.unstruck)
    if not text or mode == "ignore":
        return
    if mode == "warn":
        warnings.warn(text, UnstruckFaultWarning, stacklevel=2)
        return
    pytest.fail(
        f'{text}\nto allow it: @pytest.mark.unstruck_faults("ignore"), or "warn"', pytrace=False
    )


def _explained(fixture: str, plan: Firing) -> str:
    lines = [f"  {request}" for request in plan.seen[:_MOST_LINES]]
    if plan.requests > len(lines):
        lines.append(f"  and {plan.requests - len(lines)} more")
    return "\n".join(
        (
            f"{fixture}: a fault struck no request",
            *(f"  {fault}: {plan.why(fault)}" for fault in plan.unstruck),
            "requests under the plan:" if lines else "no requests were made under the plan",
            *lines,
        )
    )
