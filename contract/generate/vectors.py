"""Hand-written vectors: programs of the YAML files, with their permitted outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from fscontract.contract.program.arguments import resolve
from fscontract.contract.program.outcome import Outcome
from fscontract.contract.program.program import Program, Step
from fscontract.contract.spec.clauses import Clause


class Vector(NamedTuple):
    """One example of a clause."""

    clause: str
    program: Program
    expect: tuple[dict[str, Any], ...]


def vectors(
    clauses: Iterable[Clause], operations: frozenset[str], only_length: int | None = None
) -> Iterator[Vector]:
    """Yield the examples of these clauses that the API can express."""
    for clause in clauses:
        for example in clause.examples:
            program = example.program
            fits = only_length is None or program.length == only_length
            if fits and all(s.op in operations for s in program.steps):
                yield Vector(clause.id, program, example.expect)


def telling_first(examples: Iterable[Vector]) -> Iterator[Vector]:
    """Yield the first example of every clause, then the second ones, and so on.

    Examples with the program of an earlier one come last.
    """
    count: Counter[str] = Counter()
    programs: set[Program] = set()
    numbered: list[tuple[tuple[bool, int], Vector]] = []
    for example in examples:
        rank = example.program in programs, count[example.clause]
        numbered.append((rank, example))
        programs.add(example.program)
        count[example.clause] += 1
    yield from (example for _, example in sorted(numbered, key=lambda pair: pair[0]))


def permits(vector: Vector, outcome: Outcome, data: bytes, buffer: int) -> bool:
    """Return whether the vector lists the last outcome."""
    last = vector.program.steps[-1]
    return any(_matches(entry, last, outcome, data, buffer) for entry in vector.expect)


def says(vector: Vector) -> tuple[str, ...]:
    """Return the outcomes that the vector lists, as text."""
    return tuple(_as_text(entry) for entry in vector.expect)


def _as_text(entry: dict[str, Any]) -> str:
    if "raises" in entry:
        kinds = entry["raises"]
        return "raises " + (kinds if isinstance(kinds, str) else " or ".join(kinds))
    if "byte_at" in entry:
        return f"returns the byte at {entry['byte_at']}"
    if "data_at" in entry:
        return f"delivers {entry['count']} bytes from {entry['data_at']}"
    value = entry["returns"]
    return "returns" if value is None else f"returns {value}"


def _matches(entry: dict[str, Any], step: Step, outcome: Outcome, data: bytes, buffer: int) -> bool:
    def number(value: Any) -> Any:
        return resolve(value, len(data), buffer)

    if "raises" in entry:
        kinds = entry["raises"]
        return outcome.kind.value in ([kinds] if isinstance(kinds, str) else kinds)
    if outcome.raised:
        return False
    value = outcome.value[0] if step.op.endswith("_buffer") else outcome.value
    if "byte_at" in entry:
        return bool(value == data[number(entry["byte_at"])])
    if "data_at" in entry:
        start, count = number(entry["data_at"]), number(entry["count"])
        return _delivered(step, outcome, count, number) == data[start : start + count]
    expected = number(entry["returns"])
    return type(value) is type(expected) and value == expected


def _delivered(step: Step, outcome: Outcome, count: int, number: Any) -> bytes:
    """Return the bytes that a read put into its destination; empty if its count differs."""
    if isinstance(outcome.value, bytes):
        return outcome.value
    value = outcome.value[0] if isinstance(outcome.value, tuple) else outcome.value
    if value is not None and value != count:
        return b""
    offset = {"read_into": 1, "pread": 2, "read_fully": 2, "read_buffer": 1}.get(step.op)
    offset = 2 if step.op in ("pread_buffer", "read_fully_buffer") else offset
    start = 0 if offset is None else number(step.args[offset])
    return (outcome.buffer or b"")[start : start + count]
