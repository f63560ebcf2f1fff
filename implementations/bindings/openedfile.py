"""The binding to Python's binary files that a callable opens in a store of another API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from fscontract.contract.binding import Opened
from fscontract.implementations.bindings.stores import Store, StoreBinding, versions


class OpenedFileBinding(StoreBinding):
    """Programs as calls of what `opener` makes of the path of a file in `store`.

    `packages` are those whose versions a report should show, and `words` the operations that the
    files have methods for; None if they have all.
    """

    api: ClassVar[str] = "pyfile"
    default_profile: ClassVar[str] = "pyfile"

    def __init__(
        self,
        opener: Callable[[str], Any],
        store: Store,
        name: str,
        packages: tuple[str, ...] = (),
        words: frozenset[str] | None = None,
    ) -> None:
        super().__init__(store, name)
        self.versions = versions(*packages)
        self.remote = True
        if words is not None:
            self.operations &= words
        self._opener = opener

    def open_file(self, path: str) -> Opened:
        """Open the file with the opener."""
        return self._opener(path)

    def file(self, opened: Opened) -> Any:
        """The file itself."""
        return opened
