"""Model of a metadata table: the listings of a dataset that are right at each instant.

The acceptor gets the events of the dataset's timeline, and judges listings. It predicts nothing
where more than one listing is right: while an action dies, the dataset may be as before it or as
after it, until a listing shows which.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

REQUESTED, INFLIGHT, COMPLETED = "requested", "inflight", "completed"
#: Sizes of files by partition and name.
Listing: TypeAlias = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class File:
    """A file as the dataset had it last: its size, and whether it is deleted."""

    size: int
    deleted: bool = False


@dataclass(frozen=True)
class Action:
    """An action on the dataset: the state it came to, and what it did once it is completed."""

    name: str
    state: str = REQUESTED
    added: Listing = field(default_factory=dict)
    deleted: Mapping[str, Collection[str]] = field(default_factory=dict)
    #: The place among all that was completed.
    order: int = 0


State: TypeAlias = dict[str, dict[str, File]]


class Acceptor:
    """A dataset that begins with `content`."""

    def __init__(self, content: Listing | None = None) -> None:
        self._start: State = {
            partition: {name: File(size) for name, size in files.items()}
            for partition, files in (content or {}).items()
        }
        #: What the timeline may be: the actions by their times, in each way that is possible.
        self.worlds: list[dict[str, Action]] = [{}]
        self._order = 0

    @property
    def actions(self) -> dict[str, Action]:
        """The actions by their times, in the first way that is possible."""
        return self.worlds[0]

    def request(self, time: str, name: str) -> None:
        """An action is on the timeline, and nothing of it counts."""
        for actions in self.worlds:
            actions[time] = Action(name)

    def begin(self, time: str) -> None:
        """It is being done."""
        for actions in self.worlds:
            if time in actions:
                actions[time] = Action(actions[time].name, INFLIGHT)

    def complete(
        self,
        time: str,
        added: Listing | None = None,
        deleted: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        """It counts from now on."""
        self._order += 1
        for actions in self.worlds:
            if time in actions:
                name = actions[time].name
                done = Action(name, COMPLETED, added or {}, deleted or {}, self._order)
                actions[time] = done

    def take_back(self, time: str) -> None:
        """An action was rolled back, or restored."""
        for actions in self.worlds:
            actions.pop(time, None)

    @contextmanager
    def perhaps(self, done: Callable[[], None]) -> Iterator[None]:
        """Something is tried: it may be as before or as `done` makes it, until that is done."""
        before = [dict(actions) for actions in self.worlds]
        done()
        after = self.worlds
        self.worlds = before + after
        yield
        self.worlds = after

    def state(self, as_of: int | None = None, actions: Mapping[str, Action] | None = None) -> State:
        """Every file there ever was, as the first `as_of` completed actions left it."""
        state = {partition: dict(files) for partition, files in self._start.items()}
        timeline = self.actions if actions is None else actions
        completed = [action for action in timeline.values() if action.state == COMPLETED]
        for action in sorted(completed, key=lambda action: action.order):
            if as_of is None or action.order <= as_of:
                _apply(state, action)
        return state

    def listing(
        self, as_of: int | None = None, actions: Mapping[str, Action] | None = None
    ) -> dict[str, dict[str, int]]:
        """The files that are there; partitions without any are not."""
        live = {
            partition: {name: file.size for name, file in files.items() if not file.deleted}
            for partition, files in self.state(as_of, actions).items()
        }
        return {partition: files for partition, files in live.items() if files}

    @property
    def order(self) -> int:
        """How many actions have been completed."""
        return self._order

    def judge(self, listing: Listing, settles: bool = True) -> str:
        """What is wrong with a listing; empty if nothing is.

        It tells which possibility is true, unless an action that died may still be gone on with.
        """
        differences = [
            difference(listing, self.listing(actions=actions)) for actions in self.worlds
        ]
        right = [
            actions for actions, wrong in zip(self.worlds, differences, strict=True) if not wrong
        ]
        if settles and right:
            self.worlds = right
        return "" if right else " and ".join(dict.fromkeys(differences))


def _apply(state: State, action: Action) -> None:
    for partition, names in action.deleted.items():
        files = state.setdefault(partition, {})
        for name in names:
            files[name] = File(0, deleted=True)
    for partition, sizes in action.added.items():
        files = state.setdefault(partition, {})
        for name, size in sizes.items():
            known = files.get(name)
            larger = known is not None and not known.deleted and known.size > size
            files[name] = known if larger and known is not None else File(size)


def difference(actual: Listing, expected: Listing) -> str:
    """How a listing differs from another one, in a few words; empty if it does not."""
    parts = []
    for partition in sorted(actual.keys() | expected.keys()):
        if partition not in actual:
            parts.append(f"no partition {partition!r}")
        elif partition not in expected:
            parts.append(f"partition {partition!r} that is not there")
        else:
            parts += _files(partition, actual[partition], expected[partition])
    return ", ".join(parts[:4])


def _files(partition: str, actual: Mapping[str, int], expected: Mapping[str, int]) -> list[str]:
    parts = [f"{partition}/{name} missing" for name in sorted(expected.keys() - actual.keys())]
    parts += [f"{partition}/{name} not there" for name in sorted(actual.keys() - expected.keys())]
    both = sorted(actual.keys() & expected.keys())
    parts += [
        f"{partition}/{name} of {actual[name]} bytes instead of {expected[name]}"
        for name in both
        if actual[name] != expected[name]
    ]
    return parts
