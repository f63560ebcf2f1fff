"""Checks at the end of a test with a fake filesystem: unstruck faults and files left open."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fscontract.contract.program.fault_firing import Firing
from fscontract.fakes.filesystem.filesystem import FakeFileSystem, FakeFsspec
from fscontract.fakes.filesystem.handles import Handle

#: The number of requests or handles in a message.
_MOST_LINES = 20
#: Seconds between looks at files that may be about to be released.
_PAUSES = (0.01, 0.05, 0.2, 0.5)


@contextmanager
def mount_fake(**settings: Any) -> Iterator[FakeFileSystem]:
    """Make a FakeFileSystem to which `fake://` URLs lead within the `with` block.

    This is the pytest fixture `fake_filesystem` for other test frameworks. Raise AssertionError at
    the end of the block if a fault of an attached plan struck no request, or a file is still open;
    IllegalArgumentException for invalid settings.
    """
    filesystem = FakeFileSystem(**settings)
    plans = filesystem.injector.watch()
    before, FakeFsspec.shared = FakeFsspec.shared, filesystem
    try:
        yield filesystem
    finally:
        FakeFsspec.shared = before
    problems = unstruck_faults("mount_fake", plans), leaked_handles("mount_fake", filesystem)
    if any(problems):
        raise AssertionError("\n".join(filter(None, problems)))


def leaked_handles(name: str, filesystem: FakeFileSystem) -> str:
    """Return a description of the files that a test left open, or ""."""
    if not filesystem.open_handles:
        return ""
    handles = _kept_handles(filesystem)
    if not handles:
        return ""
    lines = [f"  {handle}" for handle in handles[:_MOST_LINES]]
    if len(handles) > len(lines):
        lines.append(f"  and {len(handles) - len(lines)} more")
    return "\n".join((f"{name}: the test left files open", *lines))


def _kept_handles(filesystem: FakeFileSystem) -> tuple[Handle, ...]:
    """Return the files that are still open after a moment.

    Those in reference cycles are not leaks, nor those that PyArrow's threads are about to release.
    A collection of garbage takes long in a large process, so it waits until a file is open.
    """
    for pause in _PAUSES:
        if not _has_open_file(filesystem):
            break
        gc.collect()
        if not _has_open_file(filesystem):
            break
        time.sleep(pause)
    return filesystem.open_handles


def _has_open_file(filesystem: FakeFileSystem) -> bool:
    """Return whether a file is open that is not garbage."""
    return any(not handle.lost for handle in filesystem.open_handles)


def unstruck_faults(name: str, plans: list[Firing]) -> str:
    """Return a description of the faults that struck no request, or ""."""
    return "\n".join(_explained(name, plan) for plan in plans if plan.unstruck)


def _explained(name: str, plan: Firing) -> str:
    lines = [f"  {request}" for request in plan.seen[:_MOST_LINES]]
    if plan.requests > len(lines):
        lines.append(f"  and {plan.requests - len(lines)} more")
    return "\n".join(
        (
            f"{name}: a fault struck no request",
            *(f"  {fault}: {plan.why(fault)}" for fault in plan.unstruck),
            "requests under the plan:" if lines else "no requests were made under the plan",
            *lines,
        )
    )
