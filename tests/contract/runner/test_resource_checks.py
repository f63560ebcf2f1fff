"""Leaks are distinguished from pools."""

from __future__ import annotations

import os
import resource
import threading

import pytest

from fscontract.contract.runner import resource_checks


def test_a_descriptor_that_stays_each_time_is_a_leak() -> None:
    left: list[int] = []
    try:
        assert (
            resource_checks.grows(lambda: left.append(os.open(os.devnull, os.O_RDONLY)))
            == "a descriptor"
        )
    finally:
        for descriptor in left:
            os.close(descriptor)


def test_a_thread_that_stays_each_time_is_a_leak() -> None:
    done = threading.Event()

    def start() -> None:
        threading.Thread(target=done.wait, daemon=True).start()

    try:
        assert resource_checks.grows(start) == "a thread"
    finally:
        done.set()


def test_what_is_made_once_and_kept_is_no_leak() -> None:
    kept: list[int] = []

    def once() -> None:
        if not kept:
            kept.append(os.open(os.devnull, os.O_RDONLY))

    try:
        assert resource_checks.grows(once) == ""
    finally:
        os.close(kept[0])


@pytest.mark.parametrize("count", [1, 3])
def test_a_glance_sees_that_descriptors_are_open(count: int) -> None:
    before = resource_checks.glance()
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(count)]
    try:
        assert resource_checks.glance().descriptor > before.descriptor
    finally:
        for descriptor in opened:
            os.close(descriptor)


@pytest.mark.parametrize(
    ("allowed", "most"), [(256, 400), (1024, 512), (1 << 20, 8000), (resource.RLIM_INFINITY, 8000)]
)
def test_a_target_may_leak_half_of_what_the_process_may_have(
    allowed: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a long run completes."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (allowed, allowed))
    assert resource_checks.most_descriptors() == most


@pytest.mark.parametrize("count", [3, 4])
def test_a_target_that_leaks_too_many_is_left(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the lowest free descriptor, which jumps over those that are held for something else."""
    held = [resource_checks.Held(10, 1)]
    monkeypatch.setattr(resource_checks, "most_descriptors", lambda: 3)
    monkeypatch.setattr(resource_checks, "glance", lambda: held[0])
    watch = resource_checks.LeakWatch()
    held[0] = resource_checks.Held(10 + count, 1)
    watch.left(lambda: None, lambda: None, known=True)
    assert watch.too_many == ("descriptors" if count > 3 else "")
