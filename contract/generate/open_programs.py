"""Programs that open their file through a builder, and programs that open unusual paths.

Of builders, all small openings come first in a fixed order, each followed by families of reads in
turn; then random openings of up to eight calls, by seed. They meet all scenes at the path, and all
values of every call. Plain opens meet paths without a file, and files with unusual names.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fscontract.contract.api.openfile_options import (
    BUFFER_SIZE,
    FOOTER_CACHE,
    LENGTH,
    READ_POLICY,
    SPLIT_END,
    SPLIT_START,
    option_table,
)
from fscontract.contract.generate import open_arguments
from fscontract.contract.generate.open_arguments import Readings, Steps
from fscontract.contract.program.arguments import Argument
from fscontract.contract.program.open_calls import MISNAMED, SCENES, STATUSES, BuilderCall, Opening
from fscontract.contract.program.opened_path import LONGEST_NAME, PATHS, OpenedPath
from fscontract.contract.program.program import Program, Step

#: Lengths of files: with room for a beginning, a middle and an end; smaller; beyond most buffers.
LENGTH_OF_FILE = 10
SMALLER = (0, 1)
LARGER = 4096 + 37
#: Programs per effort, including the random ones.
PROGRAMS = {"quick": 1_700, "normal": 15_000, "deep": 150_000}
#: Programs per effort if every open costs a round trip.
REMOTE = {"quick": 560, "normal": 2_000, "deep": 20_000}
#: The least number of random programs per effort.
LEAST_RANDOM = {"quick": 100, "normal": 5_000, "deep": 50_000}
#: Families of reads for each small opening, by effort; each family makes one program.
_FAMILIES = {"quick": 1, "normal": 3, "deep": 16}
#: The most calls of a random builder.
LONGEST = 8

Calls = tuple[BuilderCall, ...]
#: An opening that every run reads in every way: without read-ahead, each read is a request.
UNBUFFERED: Calls = (("must_long", BUFFER_SIZE, 0),)
_LENGTHS: tuple[Argument, ...] = (0, 1, "len-1", "len", "len+1", -1)
_SPLITS: tuple[tuple[Argument, Argument], ...] = (
    (0, "len"),
    (1, "len-1"),
    (2, None),
    (None, 2),
    (0, 0),
    ("len-1", 1),
    ("len", "len+5"),
    ("len+3", "len+9"),
    (-1, -1),
    (-2, "len-1"),
)
#: Scenes of which the target can give a status before the open.
_WITH_STATUS = frozenset({"file", "directory", "unreadable"})
_MUST_UNKNOWN = ("must", open_arguments.UNKNOWN, "1")
#: Calls for every scene, if the target supports these statuses.
_BESIDE: tuple[Calls, ...] = (
    (),
    (("opt", open_arguments.UNKNOWN, "1"),),
    (("must", READ_POLICY, "random"),),
    (("with_file_status", "own", None),),
    (("with_file_status", "none", None),),
    (("opt_long", LENGTH, "len"),),
    (_MUST_UNKNOWN,),
    (("opt", open_arguments.UNKNOWN, "1"), _MUST_UNKNOWN),
    (("must", READ_POLICY, "random"), _MUST_UNKNOWN),
)
#: Ordinary calls, which longer openings combine.
_CORE: Calls = (
    ("opt", READ_POLICY, "random"),
    ("must", READ_POLICY, "whole-file"),
    ("opt", READ_POLICY, "nonsense, vector"),
    ("opt_long", BUFFER_SIZE, 4),
    ("must_long", BUFFER_SIZE, 0),
    ("opt", BUFFER_SIZE, "no"),
    ("buffer_size", 16),
    ("opt_long", LENGTH, "len"),
    ("must_long", LENGTH, "len-1"),
    ("must", LENGTH, " 1 "),
    ("opt_long", LENGTH, -1),
    ("opt_double", LENGTH, "len+1"),
    ("opt_long", SPLIT_START, 1),
    ("must_long", SPLIT_START, "len"),
    ("opt_long", SPLIT_END, 2),
    ("must_double", SPLIT_END, "len"),
    ("opt", FOOTER_CACHE, True),
    ("must", FOOTER_CACHE, "false"),
    ("opt", open_arguments.UNKNOWN, "1"),
    ("opt_long", open_arguments.UNKNOWN, 1),
    _MUST_UNKNOWN,
)


class Scope(NamedTuple):
    """The scenes, statuses, operations and keys that the target supports."""

    scenes: frozenset[str]
    statuses: frozenset[str]
    operations: frozenset[str]
    own_keys: frozenset[str]
    unsupported_keys: frozenset[str]


def programs(
    scenes: frozenset[str],
    statuses: frozenset[str],
    operations: frozenset[str],
    own_keys: frozenset[str],
    unsupported_keys: frozenset[str],
    effort: str,
    seed: int,
    only: int | None = None,
) -> Iterator[Program]:
    """Yield openings for an effort; the same arguments give the same ones in the same order.

    `scenes` and `statuses` are those that the target supports. `only` is the only length of a file,
    if the target has a given file.
    """
    scope = Scope(scenes, statuses, operations, own_keys, unsupported_keys)
    # All programs share the readings, so that each call is compiled only once.
    readings = Readings(operations)
    count = 0
    for program in _small(scope, readings, effort, only):
        count += 1
        yield program
    random_count = max(PROGRAMS[effort] - count, LEAST_RANDOM[effort])
    draw = random.Random(f"{seed}:openings")
    yield from _random(scope, readings, draw, random_count, only)


class _Maker:
    """Makes programs of openings, with the families of reads in turn."""

    def __init__(self, readings: Readings, per_opening: int) -> None:
        self._readings = readings
        self._per_opening = per_opening
        self._turn = 0

    def glance(self, length: int, calls: Calls, scene: str = "file") -> Program:
        """Return the opening with one read."""
        return Program(length, self._readings.glance, opening=Opening(scene, calls))

    def some(self, length: int, calls: Calls, scene: str = "file") -> Iterator[Program]:
        """Yield the opening with the number of families that the effort asks for."""
        families = self._families(length, calls)
        for _ in range(min(self._per_opening, len(families))):
            self._turn += 1
            steps = families[self._turn % len(families)]
            yield Program(length, steps, opening=Opening(scene, calls))

    def every(self, length: int, calls: Calls) -> Iterator[Program]:
        """Yield the opening with every family."""
        for steps in self._families(length, calls):
            yield Program(length, steps, opening=Opening("file", calls))

    def twice(self, length: int, calls: Calls, scene: str = "file") -> Iterator[Program]:
        """Yield two streams of one builder that are read alternately."""
        families = self._families(length, calls)
        for _ in range(min(2 * self._per_opening, len(families))):
            self._turn += 1
            first, second = (families[(self._turn + i) % len(families)] for i in (0, 1))
            steps = self._readings.both(first, second)
            yield Program(length, steps, 2, Opening(scene, calls))

    def _families(self, length: int, calls: Calls) -> list[Steps]:
        return self._readings.families(length, open_arguments.overstates(calls, length))


def _small(scope: Scope, readings: Readings, effort: str, only: int | None) -> Iterator[Program]:
    make = _Maker(readings, _FAMILIES[effort])
    main = LENGTH_OF_FILE if only is None else only
    other_lengths = (*SMALLER, LARGER) if only is None else ()
    yield from _scenes(scope, make, main, other_lengths)
    if "file" not in scope.scenes:
        return
    for calls in _refused_or_ignored(scope):
        yield make.glance(main, calls)
    for calls in _statuses(scope):
        yield from make.some(main, calls)
    for calls in itertools.chain(_policies(), open_arguments.conflicts((open_arguments.UNKNOWN,))):
        yield from make.some(main, calls)
    for policy in open_arguments.policies():
        yield from make.every(main, (("opt", READ_POLICY, policy),))
    yield from make.every(main, UNBUFFERED)
    standard = sorted(option_table().standard_keys)
    for calls in open_arguments.conflicts(standard):
        yield from make.some(main, calls)
    for calls in _parts():
        for length in (main,) if effort == "quick" else (main, *other_lengths[1:]):
            yield from make.some(length, calls)
    for key in standard:
        for call in (*open_arguments.values(key), *open_arguments.numbers(key)):
            yield from make.some(main, (call,))
    yield from _twice(scope, make, main)
    yield from _overstated(scope, readings, main)
    if effort != "quick":
        yield from _products(scope, make, (main, *other_lengths), 2)
    if effort == "deep":
        yield from _products(scope, make, (main,), 3)


def _scenes(
    scope: Scope, make: _Maker, main: int, other_lengths: Iterable[int]
) -> Iterator[Program]:
    for scene in (s for s in SCENES if s in scope.scenes):
        for calls in _BESIDE:
            if _has(scope, scene, calls):
                yield make.glance(main, calls, scene)
                yield from make.some(main, calls, scene)
        if scene in ("file", "late"):
            for length in other_lengths:
                yield from make.some(length, (), scene)
        yield from make.twice(main, (), scene)


def _refused_or_ignored(scope: Scope) -> Iterator[Calls]:
    """Yield calls that are refused, or that must have no effect."""
    standard = sorted(option_table().standard_keys)
    foreign = [
        k for k in open_arguments.foreign_keys(scope.own_keys) if k not in scope.unsupported_keys
    ]
    unsupported = sorted(scope.unsupported_keys)
    for key in (*open_arguments.UNKNOWN_KEYS, *foreign, *unsupported):
        yield from ((call,) for call in open_arguments.by_every_method(key))
    for key in (open_arguments.UNKNOWN, *unsupported):
        yield from ((call,) for call in open_arguments.of_every_type(key))
    yield from open_arguments.orders(open_arguments.UNKNOWN)
    own = sorted(scope.own_keys)
    yield from open_arguments.nulls((*standard, open_arguments.UNKNOWN, *own))
    yield from open_arguments.conflicts(unsupported)
    for key in own:
        yield from (
            (call,) for call in (*open_arguments.values(key), *open_arguments.by_every_method(key))
        )


def _statuses(scope: Scope) -> Iterator[Calls]:
    """Yield every status, with the true and another length, alone and with the length option."""
    kinds = [kind for kind in STATUSES if kind in scope.statuses]
    for kind in kinds:
        for length in (None, 0, 1, "len-1", "len", "len+1"):
            status = ("with_file_status", kind, length)
            yield (status,)
            yield ("opt_long", LENGTH, "len-1"), status
            yield status, ("must_long", LENGTH, 1)
    for pair in itertools.permutations([k for k in kinds if k in ("none", "own", "name")], 2):
        yield tuple(("with_file_status", kind, None) for kind in pair)


def _policies() -> Iterator[Calls]:
    """Yield read policies by name, in capitals, and in lists."""
    for policy in open_arguments.policies():
        yield (("must", READ_POLICY, policy),)
        yield (("opt", READ_POLICY, policy.upper()),)
        yield (("must", READ_POLICY, policy), ("opt_long", BUFFER_SIZE, 4))
    for way, names in itertools.product(open_arguments.WAYS, open_arguments.POLICY_LISTS):
        yield ((way, READ_POLICY, names),)


def _parts() -> Iterator[Calls]:
    """Yield declared lengths with parts of the file, as hints and as mandatory."""
    parts = list(open_arguments.splits(_SPLITS))
    yield from parts
    for i, calls in enumerate(itertools.product(_LENGTHS, [(), *parts[::3]])):
        length, part = calls
        way = f"{open_arguments.WAYS[i % 2]}_long"
        yield ((way, LENGTH, length), *part)


def _overstated(scope: Scope, readings: Readings, length: int) -> Iterator[Program]:
    """Yield every form of read past the end of a file whose length is overstated."""
    ways: list[Calls] = [(("opt_long", LENGTH, more),) for more in ("len+1", "len+100")]
    if "own" in scope.statuses:
        ways += [(("with_file_status", "own", more),) for more in ("len+1", "len+100")]
    for calls in ways:
        for steps in readings.past_end:
            yield Program(length, steps, opening=Opening("file", calls))


def _twice(scope: Scope, make: _Maker, length: int) -> Iterator[Program]:
    for call in _core(scope):
        yield from make.twice(length, (call,))


def _products(scope: Scope, make: _Maker, lengths: Iterable[int], size: int) -> Iterator[Program]:
    """Yield every sequence of `size` ordinary calls, on files of these lengths in turn."""
    turns = itertools.cycle(lengths)
    for calls in itertools.product(_core(scope), repeat=size):
        yield from itertools.islice(make.some(next(turns), calls), 1 if size > 2 else None)


def _core(scope: Scope) -> list[BuilderCall]:
    statuses = (("with_file_status", kind, None) for kind in ("own", "name"))
    return [*_CORE, *(s for s in statuses if s[1] in scope.statuses)]


def _has(scope: Scope, scene: str, calls: Calls) -> bool:
    """Return whether the target supports the statuses that the calls give."""
    kinds = {call[1] for call in calls if call[0] == "with_file_status"}
    return kinds <= (scope.statuses if scene in _WITH_STATUS else {"none"} & scope.statuses)


# Random openings --------------------------------------------------------------------------------


def _random(
    scope: Scope, readings: Readings, draw: random.Random, count: int, only: int | None
) -> Iterator[Program]:
    scenes = [s for s in SCENES if s in scope.scenes]
    if not scenes:
        return
    scene_weights = [40 if s == "file" else 4 if s == "late" else 1 for s in scenes]
    groups, weights = _groups(scope)
    lengths = (LENGTH_OF_FILE, LENGTH_OF_FILE, *SMALLER, LARGER) if only is None else (only,)
    for _ in range(count):
        length = draw.choice(lengths)
        chosen = draw.choices(groups, weights, k=draw.randint(1, LONGEST))
        calls = tuple(draw.choice(group) or _number(draw, length) for group in chosen)
        families = readings.families(length, open_arguments.overstates(calls, length))
        first, second = draw.choice(families), draw.choice(families)
        scene = draw.choices(scenes, scene_weights)[0]
        if scene != "file":
            calls = tuple(call for call in calls if call[0] != "with_file_status")
        opening = Opening(scene, calls)
        how = draw.random()
        if how < 0.1:
            yield Program(length, readings.both(first, second), 2, opening)
        else:
            yield Program(length, first if how < 0.6 else first + second, 1, opening)


def _groups(scope: Scope) -> tuple[list[list[BuilderCall]], list[float]]:
    """Return groups of similar calls with their weights; calls that are refused are rare.

    An empty call means a number that is drawn when it is needed.
    """
    standard = sorted(option_table().standard_keys)
    kinds = sorted(scope.statuses)
    lengths = (None, None, 0, 1, "len-1", "len", "len+1")
    ignored = [*open_arguments.UNKNOWN_KEYS, *open_arguments.foreign_keys(scope.own_keys)]
    mandatory: list[BuilderCall] = [("must", key, "1") for key in ignored]
    mandatory += [("must", key, "1") for key in sorted(scope.unsupported_keys)]
    weighted: list[tuple[float, list[BuilderCall]]] = [
        (30, [call for call in _CORE if call != _MUST_UNKNOWN]),
        (20, [()]),
        (
            15,
            [
                ("opt", READ_POLICY, p)
                for p in (*open_arguments.policies(), *open_arguments.POLICY_LISTS)
            ],
        ),
        (
            20,
            [c for k in standard for c in (*open_arguments.values(k), *open_arguments.numbers(k))],
        ),
        (6, [("opt", key, text) for key in ignored for text in ("1", *open_arguments.TEXTS)]),
        (8, [("with_file_status", k, n) for k in kinds if k not in MISNAMED for n in lengths]),
        (1, [("with_file_status", k, n) for k in kinds if k in MISNAMED for n in lengths]),
        (4, [call for key in sorted(scope.own_keys) for call in open_arguments.values(key)]),
        (1, mandatory),
        (0.5, [call for calls in open_arguments.nulls(standard) for call in calls]),
    ]
    present = [(weight, group) for weight, group in weighted if group]
    return [group for _, group in present], [weight for weight, _ in present]


def _number(draw: random.Random, length: int) -> BuilderCall:
    """Return a position or a length in the file, or a little past its end."""
    key = draw.choice((LENGTH, SPLIT_START, SPLIT_END, BUFFER_SIZE))
    number = draw.randint(-2, length + 2)
    way = draw.choice(open_arguments.WAYS)
    form = draw.choice(("", "_long", "_double"))
    return (way + form, key, number if form else str(number))


#: Names of files: white space, characters of URLs, of patterns, of shells, of other scripts and
#: outside of 16 bits, in two forms of composition; names like those of hidden files and options;
#: and long ones, of one and of several bytes for each character.
NAMES = (
    "two  spaces and one at the end ",
    "per%20cent%2F%zz",
    "a#b?c=d&e+f;g,h@i!j",
    "[a]{b}(c)~^$`'",
    "d\u00e9j\u00e0-vu",
    "de\u0301ja\u0300-vu",
    "\u6587\u4ef6-\u0444\u0430\u0439\u043b-\U0001f5c2",
    ".hidden..",
    "-option",
    "tab\tinside",
    "n" * LONGEST_NAME,
    "\u00e9" * (LONGEST_NAME // 2),
)
#: The names for a target whose files take round trips: the same characters in fewer names.
_REMOTE_NAMES = ("a b%20c#d?e&f+g[h]~d\u00e9\u6587\U0001f5c2", "n" * LONGEST_NAME)
_LENGTH = 5
_READS = (Step("read_byte"), Step("read_into", (8, 0, 8)), Step("py_read", (2,)))


def path_programs(operations: frozenset[str], remote: bool, fixed: bool) -> list[Program]:
    """Return the programs; a target with one fixed file has no other names."""
    kinds = [kind for kind in PATHS if kind != "named"]
    made = [Program(_LENGTH, (), at=OpenedPath(kind)) for kind in kinds]
    reads = [step for step in _READS if step.op in operations]
    if fixed or not reads:
        return made
    names = _REMOTE_NAMES if remote else NAMES
    return made + [Program(_LENGTH, tuple(reads), at=OpenedPath("named", n)) for n in names]
