"""Objects whose settings are passed to the constructor and can't be changed."""

from __future__ import annotations

import inspect
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar


class Settled:
    """A base class that raises AttributeError for an assignment without effect.

    A class calls `_settle` at the end of its `__init__`. After that, its settings, which are the
    parameters of `__init__`, and its public attributes can't be set; methods can be replaced.
    Objects of that exact class accept no new public attributes either; subclasses may have some.
    """

    #: The other places to set it, for messages.
    _also: ClassVar[str] = ""
    _settled_as: type | None = None
    _made_with: frozenset[str] = frozenset()

    def _settle(self, kind: type) -> None:
        self._made_with = frozenset(self.__dict__)
        self._settled_as = kind

    if not TYPE_CHECKING:  # otherwise type checkers would accept any attribute

        def __setattr__(self, name: str, value: Any) -> None:
            """Set an attribute; AttributeError names the place to pass a setting instead."""
            kind = self._settled_as
            if kind is not None and not name.startswith("_"):
                self._refuse(kind, name)
            super().__setattr__(name, value)

    def _refuse(self, kind: type, name: str) -> None:
        settings = list(inspect.signature(kind).parameters)
        own = getattr(type(self), name, None)
        if name in settings:
            also = self._also.format(name=name)
            raise AttributeError(
                f"{kind.__name__}.{name} can't be changed: give it when the object is made, "
                f"{kind.__name__}({name}=...){also}"
            )
        if name in self._made_with or isinstance(own, property):
            raise AttributeError(f"{kind.__name__}.{name} can't be replaced")
        if own is None and type(self) is kind:
            near = get_close_matches(name, settings, 1)
            meant = f", did you mean {near[0]!r}?" if near else ""
            raise AttributeError(
                f"{kind.__name__} has no attribute {name!r}{meant}; settings: {', '.join(settings)}"
            )
