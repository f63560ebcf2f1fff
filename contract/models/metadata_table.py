"""Model of a metadata table: the correct listings of a dataset at each instant.

The acceptor gets the events of the dataset's timeline, and judges listings. It predicts nothing
where more than one listing is correct: while an action fails, the dataset may be in the state
before or after it, until a listing shows which.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

REQUESTED, INFLIGHT, COMPLETED = "requested", "inflight", "completed"
#: Sizes of files by partition and name.
Listing: TypeAlias = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class File:
    """The last known state of a file of the dataset: its size, and whether it is deleted."""

    size: int
    deleted: bool = False


@dataclass(frozen=True)
class Action:
    """An action on the dataset: its state, and its changes once it is completed."""

    name: str
    state: str = REQUESTED
    added: Listing = field(default_factory=dict)
    deleted: Mapping[str, Collection[str]] = field(default_factory=dict)
    #: The position in the order of completion.
    order: int = 0


State: TypeAlias = dict[str, dict[str, File]]


class Acceptor:
    """Judge listings of a dataset whose initial content is `content`."""

    def __init__(self, content: Listing | None = None) -> None:
        self._start: State = {
            partition: {name: File(size) for name, size in files.items()}
            for partition, files in (content or {}).items()
        }
        #: The possible timelines, each with its actions by their times.
        self.worlds: list[dict[str, Action]] = [{}]
        self._order = 0

    @property
    def actions(self) -> dict[str, Action]:
        """The actions by their times, in the first possible timeline."""
        return self.worlds[0]

    def request(self, time: str, name: str) -> None:
        """Add a requested action to the timeline; its changes do not count yet."""
        for actions in self.worlds:
            actions[time] = Action(name)

    def begin(self, time: str) -> None:
        """Mark an action as inflight."""
        for actions in self.worlds:
            if time in actions:
                actions[time] = Action(actions[time].name, INFLIGHT)

    def complete(
        self,
        time: str,
        added: Listing | None = None,
        deleted: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        """Mark an action as completed; its changes count from now on."""
        self._order += 1
        for actions in self.worlds:
            if time in actions:
                name = actions[time].name
                done = Action(name, COMPLETED, added or {}, deleted or {}, self._order)
                actions[time] = done

    def take_back(self, time: str) -> None:
        """Remove an action that was rolled back or restored."""
        for actions in self.worlds:
            actions.pop(time, None)

    @contextmanager
    def perhaps(self, done: Callable[[], None]) -> Iterator[None]:
        """Allow both the state before `done` and the one after it until the block ends.

        If the block ends without an exception, only the state after `done` remains possible.
        """
        before = [dict(actions) for actions in self.worlds]
        done()
        after = self.worlds
        self.worlds = before + after
        yield
        self.worlds = after

    def state(self, as_of: int | None = None, actions: Mapping[str, Action] | None = None) -> State:
        """Return every file that ever existed, as the first `as_of` completed actions left it."""
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
        """Return the files that exist; partitions without files are omitted."""
        live = {
            partition: {name: file.size for name, file in files.items() if not file.deleted}
            for partition, files in self.state(as_of, actions).items()
        }
        return {partition: files for partition, files in live.items() if files}

    @property
    def order(self) -> int:
        """The number of completed actions."""
        return self._order

    def judge(self, listing: Listing, settles: bool = True) -> str:
        """Return what is wrong with a listing; empty if it is correct.

        A listing decides which possibility is true, unless an action that died may still be
        resumed.
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


#: The kinds of differences of listings, as in their descriptions.
_KINDS = (
    r"^no partition ",
    r"^partition .* must not be listed$",
    r" missing$",
    r" must not be listed$",
    r" bytes ",
)


def difference(actual: Listing, expected: Listing) -> str:
    """Describe how a listing differs from the expected one; empty if they are equal.

    Of each kind of difference the first two are named.
    """
    parts = []
    for partition in sorted(actual.keys() | expected.keys()):
        if partition not in actual:
            parts.append(f"no partition {partition!r}")
        elif partition not in expected:
            parts.append(f"partition {partition!r} must not be listed")
        else:
            parts += _files(partition, actual[partition], expected[partition])
    kinds = [next(kind for kind in _KINDS if re.search(kind, part)) for part in parts]
    return ", ".join(part for n, part in enumerate(parts) if kinds[:n].count(kinds[n]) < 2)


def _files(partition: str, actual: Mapping[str, int], expected: Mapping[str, int]) -> list[str]:
    parts = [f"{partition}/{name} missing" for name in sorted(expected.keys() - actual.keys())]
    parts += [
        f"{partition}/{name} must not be listed" for name in sorted(actual.keys() - expected.keys())
    ]
    both = sorted(actual.keys() & expected.keys())
    parts += [
        f"{partition}/{name} of {actual[name]} bytes instead of {expected[name]}"
        for name in both
        if actual[name] != expected[name]
    ]
    return parts
