"""Threads of S3 streams that a test leaves behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_thread_left() -> Iterator[None]:
    """Fail if a thread of a stream is left that was not there before.

    Earlier tests may have left some, such as one that waits for a server that never answers.
    """
    before = set(threading.enumerate())
    yield
    left = set(threading.enumerate()) - before
    assert not [thread for thread in left if thread.name.startswith("fscontract-s3")]
