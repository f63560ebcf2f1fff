"""The port through which a plan of faults reaches a target: what a binding adds for faults."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

from fscontract.contract.anchors import ProgramError
from fscontract.contract.faults import FAULTS, FaultPlan, Firing, Turn


class Injector(ABC):
    """Makes the requests of one target fail by a plan."""

    #: The kinds of faults it can bring about.
    kinds: frozenset[str]

    @abstractmethod
    def attach(self, plan: FaultPlan) -> None:
        """Count requests from 1 on and let the plan happen, instead of one attached before.

        ProgramError if the plan has other kinds than `kinds`.
        """

    @abstractmethod
    def detach(self) -> None:
        """Let all go well from now on, and end every wait of a fault; may be called again."""

    @property
    @abstractmethod
    def requests(self) -> int:
        """The requests since `attach`, up to `detach`."""

    @property
    @abstractmethod
    def fired(self) -> int:
        """The faults that have taken effect since `attach`."""

    @contextmanager
    def attached(self, plan: FaultPlan) -> Iterator[None]:
        """Attach the plan for the time of a `with` block."""
        self.attach(plan)
        try:
            yield
        finally:
            self.detach()


class PlanInjector(Injector):
    """An injector for code that asks, at each of its requests, what is to happen to it.

    Its target calls `request`, and acts on the turn that it gets.
    """

    def __init__(self, kinds: frozenset[str]) -> None:
        self.kinds = kinds
        self._firing = Firing(FaultPlan())
        self._attached = False
        self._watchers: list[list[Firing]] = []

    def watch(self) -> list[Firing]:
        """Return a list to which every plan that is attached from now on is added, at work."""
        watcher: list[Firing] = []
        self._watchers.append(watcher)
        return watcher

    def attach(self, plan: FaultPlan) -> None:
        """As the port has it."""
        for i, fault in enumerate(plan.faults, 1):
            if fault.kind not in self.kinds:
                possible = ", ".join(k for k in FAULTS if k in self.kinds)
                raise ProgramError(
                    f"plan: fault {i}: {fault.kind} can't happen here; possible: {possible}"
                )
        self.detach()
        self._firing = Firing(plan)
        self._attached = True
        for watcher in self._watchers:
            watcher.append(self._firing)

    def detach(self) -> None:
        """As the port has it."""
        self._attached = False
        self._firing.released.set()

    def request(
        self, kind: str, path: str = "", offset: int | None = None, length: int | None = None
    ) -> Turn:
        """The turn of a request, which is one of the kinds in `faults.REQUESTS`.

        The path, the first byte and the number of bytes that it asks for are for messages.
        """
        firing = self._firing
        return firing.request(kind, path, offset, length) if self._attached else Turn()

    @property
    def requests(self) -> int:
        """As the port has it."""
        return self._firing.requests

    @property
    def fired(self) -> int:
        """As the port has it."""
        return self._firing.fired
