"""Tests of random read programs on a server that truncates, delays and damages responses."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable

import pytest

from fscontract.contract.api.errors import EOFException
from fscontract.contract.api.filesystem import FileRange, FSDataInputStream
from fscontract.contract.api.openfile_options import BUFFER_SIZE, READ_POLICY
from tests.implementations.s3.rawserver import DATA, Answer, Asked, RawServer, Sent, whole

_SERVER_ERRORS = ("500 Internal Error", "503 Slow Down")
_NAMED = ("Content-Length", "Content-Range", "ETag", "Last-Modified")
#: Counts of correct results and of error types.
Outcomes = Counter[str]


class Spoiler:
    """Damages every other response detectably: it never replaces a number by another number.

    The damage depends on the seed, the request, and the number of times it was sent before.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._sent: Counter[str] = Counter()

    def __call__(self, asked: Asked, answer: Answer) -> Sent:
        """Decide what is sent."""
        what = f"{asked.kind} {asked.headers.get('range')}"
        self._sent[what] += 1
        chance = random.Random(f"{self._seed} {what} {self._sent[what]}")
        order = chance.sample(_NAMED, len(_NAMED))
        if chance.random() < 0.5:
            return whole(asked, answer.sorted(order))
        return chance.choice(_DAMAGES)(chance, answer.sorted(order))


def _cut(chance: random.Random, answer: Answer) -> Sent:
    sent = answer.head + answer.body
    return [sent[: chance.randrange(len(sent))]], False


def _delay(chance: random.Random, answer: Answer) -> Sent:
    sent = answer.head + answer.body
    places = sorted(chance.randrange(len(sent)) for _ in range(3))
    pieces: list[bytes | None] = []
    for start, stop in zip([0, *places], [*places, len(sent)], strict=True):
        pieces += [sent[start:stop], None]
    return pieces, True


def _drop(chance: random.Random, answer: Answer) -> Sent:
    name = chance.choice(list(answer.headers))
    kept = {n: v for n, v in answer.headers.items() if n != name}
    return _closing(answer._replace(headers=kept))


def _blot(chance: random.Random, answer: Answer) -> Sent:
    name = chance.choice(list(answer.headers))
    value = answer.headers[name]
    place = chance.randrange(len(value))
    value = value[:place] + "?" + value[place + 1 :]
    return _closing(answer._replace(headers={**answer.headers, name: value}))


def _blot_head(chance: random.Random, answer: Answer) -> Sent:
    head = bytearray(answer.head)
    head[chance.randrange(len(head))] = ord("?")
    return [bytes(head) + answer.body], False


def _swap(chance: random.Random, answer: Answer) -> Sent:
    start = chance.randrange(len(DATA))
    other = f"bytes {start}-{chance.randrange(start, len(DATA))}/{len(DATA)}"
    if answer.headers.get("Content-Range") in (None, other):
        return [answer.head + answer.body], True
    return _closing(answer._replace(headers={**answer.headers, "Content-Range": other}))


def _fail(chance: random.Random, answer: Answer) -> Sent:
    line = chance.choice(_SERVER_ERRORS)
    return [Answer(line, {"Content-Length": "0"}).head], True


def _shorten(chance: random.Random, answer: Answer) -> Sent:
    return _closing(answer._replace(body=answer.body[: chance.randrange(len(answer.body) + 1)]))


def _closing(answer: Answer) -> Sent:
    answer = answer._replace(headers={**answer.headers, "Connection": "close"})
    return [answer.head + answer.body], False


_DAMAGES: list[Callable[[random.Random, Answer], Sent]] = [
    *(_cut, _cut, _cut, _delay, _drop, _blot, _blot_head, _swap, _fail, _shorten)
]


def program(stream: FSDataInputStream, chance: random.Random, outcomes: Outcomes) -> None:
    """Make random calls; each must be correct, or raise OSError without moving the position."""
    for _ in range(10):
        before = stream.get_pos()
        call = chance.choice(_CALLS)
        try:
            call(stream, chance)
        except EOFException:
            raise
        except OSError as error:
            outcomes[type(error).__name__] += 1
            assert stream.get_pos() == before
        else:
            outcomes["right"] += 1


def _read(stream: FSDataInputStream, chance: random.Random) -> None:
    start, buffer = stream.get_pos(), bytearray(chance.randrange(1, 200))
    count = stream.read_into(buffer)
    assert (count == -1) == (start == len(DATA))
    assert buffer[: max(0, count)] == DATA[start : start + max(0, count)]
    assert stream.get_pos() == start + max(0, count)


def _read_byte(stream: FSDataInputStream, chance: random.Random) -> None:
    start = stream.get_pos()
    assert stream.read_byte() == (DATA[start] if start < len(DATA) else -1)


def _seek(stream: FSDataInputStream, chance: random.Random) -> None:
    stream.seek(chance.choice([0, chance.randrange(len(DATA)), len(DATA)]))


def _pread(stream: FSDataInputStream, chance: random.Random) -> None:
    start = chance.randrange(len(DATA) + 50)
    buffer = bytearray(chance.randrange(1, 200))
    count = stream.pread(start, buffer)
    assert (count == -1) == (start >= len(DATA))
    assert buffer[: max(0, count)] == DATA[start : start + max(0, count)]


def _read_fully(stream: FSDataInputStream, chance: random.Random) -> None:
    start = chance.randrange(len(DATA))
    buffer = bytearray(chance.randrange(1, len(DATA) - start + 1))
    stream.read_fully(start, buffer)
    assert buffer == DATA[start : start + len(buffer)]


def _available(stream: FSDataInputStream, chance: random.Random) -> None:
    assert stream.available() == len(DATA) - stream.get_pos()


def _vectored(stream: FSDataInputStream, chance: random.Random) -> None:
    ranges = [FileRange(start, chance.randrange(1, 50)) for start in (0, 400, 900)]
    stream.read_vectored(ranges)
    failed: OSError | None = None
    for item in ranges:
        assert item.data is not None
        try:
            assert bytes(item.data.result(60)) == DATA[item.offset :][: item.length]
        except EOFException:
            raise
        except OSError as error:
            failed = error
    if failed is not None:
        raise failed


_CALLS = [_read, _read_byte, _seek, _pread, _read_fully, _available, _vectored]


def run(raw: RawServer, way: str, seeds: Iterable[int]) -> Outcomes:
    """Run a program for each seed on a separate stream."""
    outcomes: Outcomes = Counter()
    with raw.filesystem(way, retries=3) as fs:
        for seed in seeds:
            print(f"seed {seed}")
            chance = random.Random(seed)
            policy = chance.choice(["default", "random", "parquet", "whole-file"])
            raw.spoil = Spoiler(seed)
            builder = fs.open_file("/key").opt(READ_POLICY, policy)
            if chance.random() < 0.8:
                builder = builder.opt(BUFFER_SIZE, chance.choice([1, 32, 100]))
            if chance.random() < 0.3:
                builder = builder.opt("fs.option.openfile.length", len(DATA))
            with builder.build().result() as stream:
                program(stream, chance, outcomes)
    return outcomes


@pytest.mark.parametrize("way", ["boto3", "obstore", "auto"])
def test_damage_never_causes_a_wrong_byte(raw: RawServer, way: str) -> None:
    outcomes = run(raw, way, range(60))
    assert outcomes["right"] > sum(outcomes.values()) / 2
    assert len(outcomes) > 1


@pytest.mark.deep
@pytest.mark.parametrize("way", ["boto3", "obstore", "auto"])
def test_damage_never_causes_a_wrong_byte_in_many_programs(raw: RawServer, way: str) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    outcomes = run(raw, way, range(seed, seed + 1000))
    assert outcomes["right"] > sum(outcomes.values()) / 2
