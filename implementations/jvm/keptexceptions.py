"""What JPype keeps of Java's exceptions, out of the way of garbage collection.

It never frees a traceback, a frame and a function for each element of a stack trace (finding J1).
After millions of exceptions a collection would look through all of them, for seconds each time.
"""

from __future__ import annotations

import gc

#: After so many exceptions what is left of them is put aside.
MOST = 20_000


class KeptExceptions:
    """Counts exceptions of Java; threads may do so at once."""

    def __init__(self) -> None:
        self._count = 0

    def add(self) -> None:
        """There was one more."""
        self._count += 1

    def put_aside(self) -> None:
        """Let no collection look at those again, if there were many; costs one collection.

        It goes for all objects that live now, so it is for moments when few are to be freed later.
        """
        if self._count >= MOST:
            self._count = 0
            gc.collect()
            gc.freeze()
