"""Programs during which a server misbehaves."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from fscontract.contract.generate import random_walk
from fscontract.contract.generate.fault_programs import reads_of_each_kind
from fscontract.contract.program.fault_kinds import MOST_REQUESTS
from fscontract.contract.program.faults import Fault, FaultPlan
from fscontract.contract.program.filesystem_calls import WHOLE_READS
from fscontract.contract.program.program import Program, Step
from fscontract.contract.program.server_faults import HTTP, S3, SERVER_FAULTS, kinds_at

#: Programs of each kind of fault, by effort, beside whole reads: systematic ones, and as many
#: random ones.
PROGRAMS = {"quick": 12, "normal": 50, "deep": 300}
#: Length of a small file, and the bytes of a file past a boundary of the buffer.
_SMALL, _BEYOND = 23, 37
#: Kinds that clients retry after a delay, so that they strike a request or two.
_RETRIED = frozenset({"cut-bodies", "stall-bodies", "slow-down"})
#: The first request that a fault strikes, and how often it strikes.
_STRIKES = ((1, MOST_REQUESTS), (2, MOST_REQUESTS), (1, 1), (2, 1))
_STRIKES_RETRIED = ((1, 1), (2, 1), (1, 2), (3, 1))
#: The kinds that S3 servers alone have. An object of S3 may have been stored as gzip, so there only
#: answers to ranges are compressed, which have more bytes than the range.
_OF_S3 = kinds_at(S3) - kinds_at(HTTP)
#: The most calls of a random program.
_LONGEST = 8


def programs(
    operations: frozenset[str], kinds: frozenset[str], buffer: int, effort: str, seed: int
) -> list[Program]:
    """Return programs with each of these kinds; the same seed gives the same ones."""
    count = PROGRAMS[effort]
    draw = random.Random(f"{seed}:server faults")
    walk = random_walk.programs(operations, buffer, "deep", seed)
    reads = list(_reads(operations, buffer))
    whole = list(_whole_reads(operations, buffer))
    found: list[Program] = []
    for kind in (name for name in SERVER_FAULTS if name in kinds):
        strikes = _STRIKES_RETRIED if kind in _RETRIED else _STRIKES
        aim = slice(0, None) if kind == "gzip-bodies" and kinds & _OF_S3 else None
        plans = [FaultPlan((Fault(kind, nth, times, offset=aim),)) for nth, times in strikes]
        chosen = draw.sample(reads, min(count, len(reads)))
        found += [replace(p, faults=plans[i % len(plans)]) for i, p in enumerate(chosen)]
        if kind in _RETRIED:  # a whole read may ask for the length first, as the open before it
            found += [replace(p, faults=plan) for p in whole for plan in plans]
        else:
            found += [replace(p, faults=plans[i % len(plans)]) for i, p in enumerate(whole)]
        for i in range(count):
            program = next(walk)
            steps = program.steps[: draw.randint(1, _LONGEST)]
            # a file without a buffer reads a line by a request for each byte
            length = min(program.length, buffer + _BEYOND)
            plan = plans[i % len(plans)]
            found.append(replace(program, length=length, steps=steps, faults=plan))
    return found


def _whole_reads(operations: frozenset[str], buffer: int) -> Iterator[Program]:
    for op, args in WHOLE_READS.items():
        for length in (_SMALL, buffer + _BEYOND) if op in operations else ():
            yield Program(length, (Step(op, args),))


def _reads(operations: frozenset[str], buffer: int) -> Iterator[Program]:
    for length in (_SMALL, buffer + _BEYOND):
        for steps in reads_of_each_kind(operations, length, buffer):
            yield Program(length, steps)
        for op, args in (("pread", (length - 2, 9, 0, 9)), ("read_fully", (3, 9, 0, 9))):
            if op in operations:
                yield Program(length, (Step(op, args), Step(op, args)))
