"""The pytest fixtures of the fakes, and their checks: unstruck faults and leaked handles."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from inspect import signature
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from fscontract.contract.program.fault_firing import Firing
    from fscontract.fakes.fault_proxy import FaultProxy
    from fscontract.fakes.filesystem.filesystem import FakeFileSystem

#: The values of the settings of the checks.
_MODES = ("fail", "warn", "ignore")
#: The checks: the marker and the ini setting of each, and what it is about.
_CHECKS = {
    "unstruck_faults": ("contract_unstruck_faults", "a fault that struck no request"),
    "leaked_handles": ("contract_leaked_handles", "a file that is not closed"),
}
#: Filesystems of the fixtures of a test, with their names.
_FILESYSTEMS = pytest.StashKey[list[tuple[str, "FakeFileSystem"]]]()
#: Whether the test itself failed.
_FAILED = pytest.StashKey[bool]()


class UnstruckFaultWarning(UserWarning):
    """A plan has a fault that struck no request."""


class LeakedHandleWarning(UserWarning):
    """A test left a file of the fake filesystem open."""


_WARNINGS = {"unstruck_faults": UnstruckFaultWarning, "leaked_handles": LeakedHandleWarning}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the settings of the checks."""
    for setting, subject in _CHECKS.values():
        parser.addini(
            setting, f"what {subject} does to its test: fail, warn or ignore", default="fail"
        )


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, and reject invalid settings."""
    config.addinivalue_line(
        "markers",
        "fake_filesystem(**settings): settings of the fixture fake_filesystem, which are the "
        "parameters of FakeFileSystem",
    )
    for marker, (setting, subject) in _CHECKS.items():
        text = f"{marker}(mode): what {subject} does: fail, warn or ignore"
        config.addinivalue_line("markers", text)
        if config.getini(setting) not in _MODES:
            raise pytest.UsageError(
                f"{setting}: one of {', '.join(_MODES)}, not {config.getini(setting)!r}"
            )


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Add the requests of each fake filesystem to the report of a failed test."""
    outcome: Any = yield
    report = outcome.get_result()
    if report.when == "call" and report.failed:
        item.stash[_FAILED] = True
        for name, filesystem in item.stash.get(_FILESYSTEMS, []):
            table = f"{filesystem.requests}\n{filesystem.clock.now:g} s on the clock"
            report.sections.append((f"Requests of {name}", table))


@pytest.fixture
def fake_filesystem(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FakeFileSystem]:
    """Return a new, empty FakeFileSystem; `fake://` URLs refer to it during the test.

    `@pytest.mark.fake_filesystem(retries=0)` passes settings. The test fails if a fault of an
    attached plan struck no request, or if it leaves a file open, unless the marker
    `unstruck_faults` or `leaked_handles` sets another action. Its report has the requests.
    """
    # pytest loads this module at start-up, also for tests that do not use it.
    from fscontract.fakes.filesystem.filesystem import FakeFsspec

    settings = _marked_settings(request.node)
    with _checked(request.node) as make:
        filesystem = make("fake_filesystem", settings, "@pytest.mark.fake_filesystem")
        monkeypatch.setattr(FakeFsspec, "shared", filesystem)
        yield filesystem


@pytest.fixture
def fake_filesystem_factory(
    request: pytest.FixtureRequest,
) -> Iterator[Callable[..., FakeFileSystem]]:
    """Return a function that makes FakeFileSystems with the settings that it is given.

    They are checked as `fake_filesystem` is. `as_fsspec()` gives their fsspec filesystem.
    """
    with _checked(request.node) as make:

        def create(**settings: Any) -> FakeFileSystem:
            return make("fake_filesystem_factory", settings, "fake_filesystem_factory")

        yield create


@pytest.fixture
def fault_proxy(request: pytest.FixtureRequest) -> Iterator[Callable[..., FaultProxy]]:
    """Return a function that starts FaultProxies, which are closed after the test.

    As with `fake_filesystem`, the test fails if a fault struck no request.
    """
    from fscontract.fakes.fault_proxy import FaultProxy
    from fscontract.fakes.filesystem.checks import unstruck_faults

    mode = _mode(request.node, "unstruck_faults")
    plans: list[list[Firing]] = []
    with ExitStack() as stack:

        def start(*arguments: Any, **settings: Any) -> FaultProxy:
            proxy = stack.enter_context(FaultProxy(*arguments, **settings))
            plans.append(proxy.injector.watch())
            return proxy

        yield start
    watched = [plan for each in plans for plan in each]
    _act("unstruck_faults", mode, unstruck_faults("fault_proxy", watched))


@contextmanager
def _checked(
    node: pytest.Item,
) -> Iterator[Callable[[str, dict[str, Any], str], FakeFileSystem]]:
    """Return a function that makes filesystems; check them at the end of the test."""
    from fscontract.contract.api.errors import IllegalArgumentException
    from fscontract.fakes.filesystem.checks import leaked_handles, unstruck_faults
    from fscontract.fakes.filesystem.filesystem import FakeFileSystem

    modes = {check: _mode(node, check) for check in _CHECKS}
    made: list[tuple[str, FakeFileSystem, list[Firing]]] = []

    def make(name: str, settings: dict[str, Any], source: str) -> FakeFileSystem:
        known = signature(FakeFileSystem).parameters
        if wrong := next((s for s in settings if s not in known), None):
            pytest.fail(_unknown_setting(source, wrong), pytrace=False)
        try:
            filesystem = FakeFileSystem(**settings)
        except IllegalArgumentException as error:
            pytest.fail(f"{source}: {error}", pytrace=False)
        made.append((name, filesystem, filesystem.injector.watch()))
        node.stash.setdefault(_FILESYSTEMS, []).append((name, filesystem))
        return filesystem

    yield make
    unstruck = [unstruck_faults(name, plans) for name, _, plans in made]
    leaked = [leaked_handles(name, filesystem) for name, filesystem, _ in made]
    _act("unstruck_faults", modes["unstruck_faults"], "\n".join(filter(None, unstruck)))
    if not node.stash.get(_FAILED, False):  # the traceback of a failed test keeps its files open
        _act("leaked_handles", modes["leaked_handles"], "\n".join(filter(None, leaked)))


def _marked_settings(node: pytest.Item) -> dict[str, Any]:
    """Return the arguments of the markers; the closest marker takes precedence."""
    settings: dict[str, Any] = {}
    for marker in node.iter_markers("fake_filesystem"):
        if marker.args:
            pytest.fail(
                _unknown_setting("@pytest.mark.fake_filesystem", marker.args[0]), pytrace=False
            )
        settings = {**marker.kwargs, **settings}
    return settings


def _unknown_setting(source: str, setting: object) -> str:
    from fscontract.fakes.filesystem.filesystem import FakeFileSystem

    known = ", ".join(signature(FakeFileSystem).parameters)
    return f"{source}: unknown setting {setting!r:.40}; settings are given by name: {known}"


def _mode(node: pytest.Item, check: str) -> str:
    """Return what a check does: the closest marker says it, or else the ini setting."""
    marker = node.get_closest_marker(check)
    if marker is None:
        return str(node.config.getini(_CHECKS[check][0]))
    if len(marker.args) != 1 or marker.kwargs or marker.args[0] not in _MODES:
        pytest.fail(
            f"@pytest.mark.{check} takes one of {', '.join(map(repr, _MODES))}", pytrace=False
        )
    return str(marker.args[0])


def _act(check: str, mode: str, text: str) -> None:
    """Fail or warn with the text of a check, if there is one."""
    if not text or mode == "ignore":
        return
    if mode == "warn":
        warnings.warn(text, _WARNINGS[check], stacklevel=2)
        return
    pytest.fail(f'{text}\nto allow it: @pytest.mark.{check}("ignore"), or "warn"', pytrace=False)
