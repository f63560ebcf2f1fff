"""docs/how-to/s3.md has the current options, read policies and numbers of requests."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import lru_cache

from fscontract.contract.api.filesystem import FileRange, FSDataInputStream
from fscontract.contract.api.openfile_options import option_table
from fscontract.implementations import options
from fscontract.implementations.openfile_builder import OpenOptions
from fscontract.implementations.options import GIB, KIB, MIB, Kind
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.filesystem import Reader
from fscontract.implementations.s3.options import OPTIONS, S3A, S3Option, policy, secret
from fscontract.implementations.s3.read_ahead import PLANS, Plan
from tests.docs.pages import hold, hold_widths
from tests.implementations.s3.memorysource import BUCKET, MemorySource
from tests.limits import DEADLOCK

_LENGTH = 64 * MIB
_NONE = "-"


def test_the_page_has_the_present_options() -> None:
    """`UPDATE_DOCS=1` writes them."""
    hold("how-to/s3.md", _options(), "options")


def test_the_page_has_the_present_plans() -> None:
    """`UPDATE_DOCS=1` writes them."""
    hold("how-to/s3.md", _plans(), "plans")


def test_the_page_has_the_requests_that_streams_make() -> None:
    """`UPDATE_DOCS=1` writes them."""
    hold("how-to/s3.md", _requests(), "requests")


def test_every_row_of_a_table_has_the_columns_of_its_heading() -> None:
    """No value holds a bar or a line break."""
    for text in (_options(), _plans(), _requests()):
        hold_widths(text)


def test_every_policy_has_a_plan() -> None:
    """So none of them is missing from the tables."""
    assert set(PLANS) == set(option_table().policies)


def _options() -> str:
    heading = "option | default | allowed | variable | Hadoop's key, after `fs.s3a.`"
    rows = [
        (
            f"`{option.name}`",
            _default(option),
            _allowed(option),
            _codes(option.environment),
            _codes(option.s3a),
        )
        for option in OPTIONS
    ]
    meanings = (f"- `{option.name}`: {_meaning(option)}" for option in OPTIONS)
    return "\n".join([*_table(heading, rows), "", *meanings, ""])


def _default(option: S3Option) -> str:
    value = option.default
    if value is None or value is False:
        return _NONE
    if option.kind is options.size:
        return _bytes(value)
    if option.kind is options.duration:
        return _seconds(value)
    return "true" if value is True else str(value)


def _allowed(option: S3Option) -> str:
    if option.kind is options.size:
        return f"{_bytes(option.minimum)} to {_bytes(option.maximum)}"
    if option.kind is options.duration:
        return f"{_seconds(option.minimum)} to {_seconds(option.maximum)}"
    if option.kind is options.count:
        return f"{option.minimum} to {option.maximum}"
    words: dict[Kind, str] = {
        options.switch: "`true`, `false`",
        policy: "read policies",
        secret: "text",
    }
    name = words.get(option.kind) or option.kind.__name__.lstrip("_")
    return _codes(option.choices) if option.choices else name


def _meaning(option: S3Option) -> str:
    by_ours: dict[str, list[str]] = {}
    for theirs, ours in option.translated:
        by_ours.setdefault(ours, []).append(theirs)
    said = "; ".join(f"{_codes(theirs)} as `{ours}`" for ours, theirs in by_ours.items())
    return f"{option.meaning} Hadoop's values: {said}." if said else option.meaning


def _plans() -> str:
    heading = "policies | first request | each further one | under way ahead | footer kept"
    rows = [(_codes(names), *_plan(plan)) for plan, names in _grouped().items()]
    return "\n".join([*_table(heading, rows), ""])


def _plan(plan: Plan) -> tuple[str, ...]:
    further = _bytes(plan.first)
    if plan.growth > 1:
        unlimited = plan.maximum == Plan(first=1).maximum
        further = f"{plan.growth} times as much"
        further += "" if unlimited else f", up to {_bytes(plan.maximum)}"
    ahead = f"{plan.ahead}, {_bytes(plan.hold)} of each" if plan.ahead else _NONE
    return _bytes(plan.first), further, ahead, "yes" if plan.footer else _NONE


@lru_cache(maxsize=1)
def _requests() -> str:
    heading = f"GETs by policy | {' | '.join(_READS)}"
    rows = [
        (_codes(names), *(_said(names[0], read) for read in _READS.values()))
        for names in _grouped().values()
    ]
    return "\n".join([*_table(heading, rows), ""])


def _said(policy: str, read: Callable[[FSDataInputStream], None]) -> str:
    told, untold = _count(policy, read, _LENGTH), _count(policy, read, None)
    return str(told) if told == untold else f"{told}; {untold} without the length"


def _count(policy: str, read: Callable[[FSDataInputStream], None], length: int | None) -> int:
    """Return the number of requests for these reads of an object of 64 MiB."""
    source = MemorySource()
    source.objects["key"] = _data()
    reader = Reader(S3Config(BUCKET), lambda: source)
    options = OpenOptions(read_policy=policy, length=length)
    with closing(reader), reader.open("/key", options) as stream:
        read(stream)
    return len(source.requests)


@lru_cache(maxsize=1)
def _data() -> bytes:
    return bytes(_LENGTH)


def _begin(stream: FSDataInputStream) -> None:
    stream.read_byte()


def _in_order(stream: FSDataInputStream) -> None:
    buffer = bytearray(64 * KIB)
    while stream.read_into(buffer) > 0:
        pass


def _positioned(stream: FSDataInputStream) -> None:
    places = random.Random(1)
    for _ in range(100):
        stream.pread(places.randrange(_LENGTH // 2), bytearray(4 * KIB))


def _vectored(stream: FSDataInputStream) -> None:
    ranges = [FileRange(64 * KIB * i, 4 * KIB) for i in range(100)]
    stream.read_vectored(ranges)
    for one in ranges:
        assert one.data is not None
        one.data.result(DEADLOCK)


def _footer(stream: FSDataInputStream) -> None:
    file = stream.as_file()
    for size in (8, 4 * KIB):
        file.seek(-size, 2)
        assert len(file.read(size) or b"") == size


#: What is read of an object of 64 MiB.
_READS: dict[str, Callable[[FSDataInputStream], None]] = {
    "the first byte": _begin,
    "all, 64 KiB a call": _in_order,
    "100 random preads of 4 KiB": _positioned,
    "one vectored read of 4 KiB in each of the first 100 times 64 KiB": _vectored,
    "the last 8 bytes, then the last 4 KiB": _footer,
}


def _grouped() -> dict[Plan, list[str]]:
    """The policies of each plan."""
    found: dict[Plan, list[str]] = {}
    for name, plan in PLANS.items():
        found.setdefault(plan, []).append(name)
    return found


def _table(heading: str, rows: Iterable[Iterable[str]]) -> Iterator[str]:
    yield f"| {heading} |"
    yield "|" + "---|" * (heading.count("|") + 1)
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name.removeprefix(S3A)}`" for name in names) or _NONE


def _bytes(count: float) -> str:
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if count and count % unit == 0:
            return f"{count / unit:g} {name}"
    return f"{count:g}"


def _seconds(seconds: float) -> str:
    return f"{seconds:g} s"
