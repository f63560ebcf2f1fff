"""Check that a task finds a file as the process that submitted it has written it."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from fscontract.contract.binding import Binding, Opened, TargetError
from fscontract.contract.program.content import OF_EXECUTORS, content
from fscontract.contract.program.outcome import Kind, Outcome, raised
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.result import Counterexample
from fscontract.contract.runner.sandbox import SandboxedBinding
from fscontract.contract.runner.timeouts import Next, supervise

LENGTH, VERSION, BYTES = "executors.length", "executors.version", "executors.bytes"
#: The `api` of the document with the clauses of executors.
EXECUTORS = "executors"
#: Longer than a block that is read ahead for small reads.
_SIZE = 300_000
#: Schemes whose files are visible to one process only.
_OWN = frozenset({"memory", "fscontract-memory", "fake"})
_SCHEME = re.compile(r"(?:[\w-]+\+)?(?P<scheme>[\w.-]+)://")


def is_place(target: str) -> bool:
    """Return whether several processes see the files of a target."""
    match = _SCHEME.match(target)
    return match is not None and match["scheme"] not in _OWN


@dataclass(frozen=True)
class Written:
    """A file as the driver wrote it."""

    path: str
    length: int
    sha256: str
    etag: str | None


@dataclass
class Seen:
    """The observations of a task: compared fields, missing calls of the API, and differences.

    `unanswered` has the clauses whose calls failed on the way to the store.
    """

    exercised: Counter[str] = field(default_factory=Counter)
    unsaid: set[str] = field(default_factory=set)
    counterexamples: dict[str, Counterexample] = field(default_factory=dict)
    unanswered: set[str] = field(default_factory=set)


def write(binding: Binding) -> Written:
    """Return a file that a prepared binding has written, or the fixed one. Raise TargetError."""
    data = content(_SIZE, OF_EXECUTORS) if binding.fixed_content is None else binding.fixed_content
    path = binding.create(data)
    try:
        etag = binding.status_etag(path)
    except Exception as error:
        raise TargetError(f"{binding.name}: no status of {path}: {raised(error)}") from error
    return Written(path, len(data), hashlib.sha256(data).hexdigest(), etag)


def compare(binding: Binding, file: Written, timeout: float) -> Seen:
    """Compare a file with what another process has written. Raise TargetError."""
    sandboxed, seen = SandboxedBinding(binding, timeout), Seen()

    def look(_: str) -> None:
        _compare_status(sandboxed, file, seen)
        _compare_bytes(sandboxed, file, seen)

    def hang(_: str, times: int) -> Next:
        actual = f"still running after {timeout:g} s"
        hangs = _different(file, "ends", actual, "file: hang")
        seen.counterexamples.setdefault(BYTES, hangs)
        return Next.END

    sandboxed.prepare()
    try:
        supervise(iter([file.path]), look, timeout, hang)
    finally:
        sandboxed.dispose()
    return seen


def _compare_status(binding: Binding, file: Written, seen: Seen) -> None:
    for clause, call, what, written in (
        (LENGTH, binding.status_length, "length", file.length),
        (VERSION, binding.status_etag, "etag", file.etag),
    ):
        if written is None:
            seen.unsaid.add(clause)
            continue
        expected = f"a status with {what} {written}"
        try:
            status: Any = call(file.path)
        except Exception as error:
            outcome = raised(error)
            if outcome.kind is Kind.ENVIRONMENT:
                seen.unanswered.add(clause)
            else:
                seen.exercised[clause] += 1
                failure = _different(file, expected, str(outcome), "status: raised")
                seen.counterexamples[clause] = failure
            continue
        if status is None:
            seen.unsaid.add(clause)
            continue
        seen.exercised[clause] += 1
        if status != written:
            actual, how = f"a status with {what} {status}", f"status: another {what}"
            seen.counterexamples[clause] = _different(file, expected, actual, how)


def _compare_bytes(binding: Binding, file: Written, seen: Seen) -> None:
    expected = f"{file.length} bytes with SHA-256 {file.sha256[:12]}"
    try:
        opened = binding.open(file.path)
    except Exception as error:
        _failed(raised(error), file, expected, "open", seen)
        return
    try:
        data = _read(binding, opened, file.length)
    finally:
        binding.bind(Step("close"))(opened)
    if data is None:
        seen.unsaid.add(BYTES)
    elif isinstance(data, Outcome):
        _failed(data, file, expected, "read", seen)
    else:
        seen.exercised[BYTES] += 1
        digest = hashlib.sha256(data).hexdigest()
        if digest != file.sha256:
            actual = f"{len(data)} bytes with SHA-256 {digest[:12]}"
            seen.counterexamples[BYTES] = _different(file, expected, actual, "read: other bytes")


def _failed(outcome: Outcome, file: Written, expected: str, call: str, seen: Seen) -> None:
    if outcome.kind is Kind.ENVIRONMENT:
        seen.unanswered.add(BYTES)
        return
    seen.exercised[BYTES] += 1
    seen.counterexamples[BYTES] = _different(file, expected, str(outcome), f"{call}: raised")


def _read(binding: Binding, opened: Opened, length: int) -> bytes | Outcome | None:
    """Return the content, or the outcome of the failed call; None if the API has no read call."""
    if "read_fully" in binding.operations:
        outcome = binding.bind(Step("read_fully", (0, length, 0, length)))(opened)
        return outcome if outcome.raised else (outcome.buffer or b"")
    if "py_read" not in binding.operations:
        return None
    parts: list[bytes] = []
    read = binding.bind(Step("py_read", (max(length, 1),)))
    while True:
        outcome = read(opened)
        if outcome.raised:
            return outcome
        if not isinstance(outcome.value, bytes) or not outcome.value:
            return b"".join(parts)
        parts.append(outcome.value)


def _different(file: Written, expected: str, actual: str, how: str) -> Counterexample:
    return Counterexample(Program(file.length, ()), (expected,), actual, how=how)
