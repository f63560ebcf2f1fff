"""Leaks are told from pools."""

from __future__ import annotations

import os
import threading

import pytest

from fscontract.contract.suite import leaks


def test_a_descriptor_that_stays_each_time_is_a_leak() -> None:
    left: list[int] = []
    try:
        assert leaks.grows(lambda: left.append(os.open(os.devnull, os.O_RDONLY))) == "a descriptor"
    finally:
        for descriptor in left:
            os.close(descriptor)


def test_a_thread_that_stays_each_time_is_a_leak() -> None:
    done = threading.Event()

    def start() -> None:
        threading.Thread(target=done.wait, daemon=True).start()

    try:
        assert leaks.grows(start) == "a thread"
    finally:
        done.set()


def test_what_is_made_once_and_kept_is_no_leak() -> None:
    kept: list[int] = []

    def once() -> None:
        if not kept:
            kept.append(os.open(os.devnull, os.O_RDONLY))

    try:
        assert leaks.grows(once) == ""
    finally:
        os.close(kept[0])


@pytest.mark.parametrize("count", [1, 3])
def test_a_glance_sees_that_descriptors_are_open(count: int) -> None:
    before = leaks.glance()
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(count)]
    try:
        assert leaks.glance().descriptor > before.descriptor
    finally:
        for descriptor in opened:
            os.close(descriptor)
