"""Judges for the stages of an open through a builder: open_file, its calls, build, get, read.

The document does not specify when a failed open is reported: by the future, or by the first read.
The profile does (feature `openfile-first-read`); earlier, later and never are violations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from fscontract.contract.api.filesystem import FileStatus
from fscontract.contract.api.openfile_options import BUFFER_SIZE, OptionTable
from fscontract.contract.models.openfile_resolution import (
    Call,
    Resolution,
    is_below_one,
    resolve,
)
from fscontract.contract.models.stream_state import Failure
from fscontract.contract.models.transition_table import HADOOP_TESTS
from fscontract.contract.program.open_calls import MISNAMED, BuilderCall, Opening
from fscontract.contract.program.outcome import (
    FILL,
    IO_KINDS,
    RUNTIME_KINDS,
    Kind,
    Outcome,
    returned,
    words,
)
from fscontract.contract.program.program import Step

FIRST_READ = "openfile-first-read"
PINS = "openfile-pins-version"
#: Stages in their order; "read" includes all calls on the stream.
STAGES = ("open_file", "set", "build", "get", "read")
#: Scenes whose open gives a stream.
READABLE = frozenset({"file", "late"})
_ARGUMENT = frozenset({Kind.ILLEGAL_ARGUMENT, Kind.NULL})
#: G14: a path of another filesystem need not be an IOException.
_FOREIGN = IO_KINDS | {Kind.ILLEGAL_ARGUMENT}
#: The violated clause if a scene that can't be read fails before `get`.
_TOO_EARLY = {
    "missing": "open.build-missing",
    "directory": "open.build-directory",
    "unreadable": "open.permission-delayed",
    "foreign": "open.foreign-path",
}
#: Reads for a stream that should have failed: the first that the API has is used.
PROBES = (Step("read_byte"), Step("py_read", (1,)))
#: Reads that return -1 at the end.
_STOPPING = frozenset({"read_byte", "read_into", "read_buffer", "pread", "pread_buffer"})
#: Operations that read bytes.
READ_OPERATIONS = frozenset(
    {"read_byte", "read_into", "read_buffer", "pread", "read_fully", "read_fully_all"}
    | {"pread_buffer", "read_fully_buffer", "read_vectored"}
    | {
        "py_read",
        "py_read_default",
        "py_readall",
        "py_readinto",
        "py_readline",
        "py_readlines",
        "py_next",
    }
    | {"py_iterate", "py_read1", "py_readinto1", "py_peek"}
)


@dataclass(frozen=True)
class Case:
    """An opening without anchors, of a file of `length` bytes, under a profile."""

    opening: Opening
    length: int
    features: frozenset[str]
    table: OptionTable
    own_keys: frozenset[str] = frozenset()
    unsupported_keys: frozenset[str] = frozenset()
    streams: int = 1

    @cached_property
    def resolution(self) -> Resolution:
        """The options that the calls ask for; a status of another file is ignored."""
        calls = [_with_status(call, self.length) for call in self.opening.calls]
        return resolve(calls, self.table, self.own_keys, self.unsupported_keys)

    @cached_property
    def status(self) -> str:
        """The kind of the last status, "" without one."""
        kinds = [args[0] for name, *args in self.opening.calls if name == "with_file_status"]
        return str(kinds[-1]) if kinds else ""

    @property
    def misnamed(self) -> bool:
        """True if the status belongs to a file of another name."""
        return self.status in MISNAMED

    @property
    def readable(self) -> bool:
        """True if there is a file to read."""
        return self.opening.scene in READABLE

    @property
    def declared(self) -> int | None:
        """The length declared for the file, in bytes; None if none is declared."""
        length = self.resolution.length
        return length if isinstance(length, int) else None

    def contents(self, data: bytes, changed: bytes | None = None) -> tuple[bytes, ...]:
        """Return all contents that the stream may have: the file, or the declared part of it.

        `changed` is the present content of the file if the status is older. A status is a hint, so
        the length of the option may count beside it.
        """
        contents = (data,) if changed is None or PINS in self.features else (changed, data)
        ends = dict.fromkeys((self.declared, self.resolution.length_option))
        return contents + tuple(
            content[:end]
            for end in ends
            for content in contents
            if isinstance(end, int) and 0 <= end < len(content)
        )


class StageVerdict(NamedTuple):
    """The verdict on one stage. `ended` means that the program ended in a permitted way."""

    failure: Failure | None = None
    ended: bool = False


_GO_ON = StageVerdict()
_OVER = StageVerdict(ended=True)


def judge_open_file(case: Case, outcome: Outcome) -> StageVerdict:
    """Judge `open_file`: it returns a builder for any path, or refuses the path by its form."""
    if _refuses_path(case, outcome):
        return _OVER
    return _must_return(case, "open_file", outcome)


def judge_call(case: Case, index: int, outcome: Outcome) -> StageVerdict:
    """Judge a call: it returns a builder, unless its key or value is null or its size invalid."""
    if index not in case.resolution.rejected_calls:
        if outcome.kind in _ARGUMENT and _is_refusable(case, case.opening.calls[index]):
            return _OVER
        return _must_return(case, "set", outcome)
    if outcome.kind in _ARGUMENT:
        return _OVER
    return _fails("open.option-null", "set", outcome, _ARGUMENT)


def judge_build(case: Case, outcome: Outcome) -> StageVerdict:
    """Judge `build`: it rejects paths of another filesystem, and unknown or unsupported mandatory
    keys.

    If it returns despite such a key, `judge_get` judges what follows.
    """
    kinds = _refusals(case)
    if outcome.raised and _refuses_path(case, outcome):
        return _OVER
    if kinds and outcome.raised:
        return _OVER if outcome.kind in kinds else _fails("", "build", outcome, kinds)
    if outcome.raised and _may_reject(case, outcome):
        return _OVER
    return _must_return(case, "build", outcome)


def judge_get(case: Case, outcome: Outcome) -> StageVerdict:
    """Judge `get`: the future gives a readable stream, or raises the reason why there is none."""
    kinds = _refusals(case)
    if kinds:
        clause = "open.build-checks-options" if outcome.kind in kinds else ""
        return _fails(clause, "get", outcome, kinds, due="build")
    if outcome.raised and _may_reject(case, outcome):
        return _OVER
    if case.readable:
        return _OVER if _noticed(case, outcome) else _must_return(case, "get", outcome)
    allowed = _failing(case)
    if FIRST_READ in case.features:
        if not outcome.raised:
            return _GO_ON
        if case.opening.scene == "foreign" and outcome.kind in allowed:
            return _OVER  # a path of another filesystem is recognised without I/O
        return _fails("open.failure-stage", "get", outcome, frozenset({Kind.RETURNED}))
    if outcome.kind in allowed:
        return _OVER
    if outcome.raised:
        return _fails("open.get-ioerror", "get", outcome, allowed)
    return _GO_ON  # later than required: the first read shows whether it fails at all


def judge_doomed(case: Case, step: Step, outcome: Outcome, position: int = 0) -> StageVerdict:
    """Judge a call at a position of a stream whose open should have failed.

    A read must fail; a call that does no I/O may succeed.
    """
    outcome = _of_ranges(outcome)
    if step.op not in READ_OPERATIONS or outcome.kind is Kind.INEXPRESSIBLE or _idle(step, outcome):
        return _GO_ON
    if _is_at_declared_end(case, step, outcome, position):
        return _GO_ON
    allowed = _failing(case)
    if outcome.kind not in allowed:
        clause = "open.get-ioerror" if outcome.raised else "open.read-fails"
        return _fails(clause, "read", outcome, allowed)
    if FIRST_READ in case.features or case.declared is not None:
        return _OVER  # the caller declares a length, so the open assumes that the file exists
    return _fails("open.failure-stage", "read", outcome, frozenset())


def moved(step: Step, outcome: Outcome, position: int) -> int:
    """Return the position after a call on a stream that has nothing to read."""
    if outcome.raised:
        return position
    if step.op in ("seek", "seek_to_new_source"):
        position = step.args[0]
    elif step.op == "skip":
        position += outcome.value
    elif step.op == "py_seek":
        position = outcome.value
    return position


def judge_refused_read(case: Case, failure: Failure, outcome: Outcome) -> bool:
    """Return whether a failing read noticed the change of a file with an old status."""
    return failure.aspect == "raised" and _noticed(case, _of_ranges(outcome))


def as_end(case: Case, step: Step, outcome: Outcome) -> Outcome | None:
    """Return the -1 that a read may return instead of its EOFException, None if it may not.

    G6: if the declared length differs from the file's, the end may be reported in both ways.
    """
    if outcome.kind is not Kind.EOF or case.declared in (None, case.length):
        return None
    size, *rest = step.args[1:] if step.op.startswith("pread") else step.args or (0,)
    if size is None or step.op not in _STOPPING:
        return None
    buffer = bytes([FILL]) * size
    if step.op == "read_byte":
        return returned(-1)
    if not step.op.endswith("_buffer"):
        return returned(-1, buffer)
    start, limit = rest
    return returned((-1, start, size if limit is None else limit), buffer)


def ends_overstated_file(case: Case, step: Step, failure: Failure, outcome: Outcome) -> bool:
    """Return whether a read of a Python file raised because the file is shorter than declared.

    No document says what such a read raises; it must only not return as if there were data.
    """
    raised = failure.aspect == "raised" and outcome.kind in IO_KINDS
    return is_overstated(case) and raised and step.op.startswith("py_")


def is_overstated(case: Case) -> bool:
    """Return whether the declared length is greater than the file's length."""
    return case.declared is not None and case.declared > case.length


def _of_ranges(outcome: Outcome) -> Outcome:
    """Return the first failed range of a vectored read, if any."""
    parts = outcome.value if isinstance(outcome.value, tuple) else ()
    failed = (part for part in parts if isinstance(part, Outcome) and part.raised)
    return next(failed, outcome)


def _idle(step: Step, outcome: Outcome) -> bool:
    """Return whether a read gave what a read of no bytes gives, or refused its arguments.

    Such a read says nothing about its source; those of PROBES do.
    """
    if step in PROBES:
        return False
    if outcome.raised:
        return bool(step.args) and outcome.kind in RUNTIME_KINDS
    value = outcome.value
    if step.op == "read_vectored":
        return all(part.value == 0 for part in value)
    if step.op.endswith("_buffer"):
        value = value[0]
    return value in (None, 0, b"")


def _must_return(case: Case, stage: str, outcome: Outcome) -> StageVerdict:
    if not outcome.raised:
        return _GO_ON
    clause = "" if case.readable else _TOO_EARLY[case.opening.scene]
    return _fails(clause, stage, outcome, frozenset({Kind.RETURNED}))


def _fails(
    clause: str, stage: str, outcome: Outcome, allowed: frozenset[Kind], due: str = ""
) -> StageVerdict:
    """Return the verdict for a failed stage; the calls decide the clause if it is empty.

    `due` is the earlier stage that should have failed.
    """
    aspect = f"{stage} {outcome.kind.value}"
    return StageVerdict(Failure(clause, "", aspect, _says(due or stage, allowed)))


def _says(stage: str, allowed: frozenset[Kind]) -> tuple[str, ...]:
    if not allowed:
        return (f"fails in the future already, unless {FIRST_READ} is declared",)
    raising = words(allowed - {Kind.RETURNED})
    name = {"set": "the call", "read": "the read", "get": "the future"}.get(stage, stage)
    texts = (f"{name} returns",) if Kind.RETURNED in allowed else ()
    return texts + ((f"{name} raises {raising}",) if raising else ())


def _refusals(case: Case) -> frozenset[Kind]:
    return frozenset(refusal.kind for refusal in case.resolution.refusals)


def _may_reject(case: Case, outcome: Outcome) -> bool:
    """Return whether a builder argument may be rejected with this outcome.

    G2: another file's status. G1: a null status. A store defines the values of its keys.
    """
    if case.misnamed and outcome.kind in _FOREIGN:
        return True
    refusable = case.resolution.own or any(_is_refusable(case, c) for c in case.opening.calls)
    return bool(refusable) and outcome.kind in _ARGUMENT


def _is_refusable(case: Case, call: BuilderCall) -> bool:
    """Return whether a call gives a null status, or an invalid buffer size.

    The document both requires a status that is not null and says that null is ignored (G1). It does
    not mention sizes below 1. Hadoop's own test passes a null status.
    """
    method, *args = call
    if method == "with_file_status":
        return args[0] == "none" and HADOOP_TESTS not in case.features
    key, value = (BUFFER_SIZE, args[0]) if method == "buffer_size" else args
    return key == BUFFER_SIZE and is_below_one(value)


def _refuses_path(case: Case, outcome: Outcome) -> bool:
    """Return whether a path of another filesystem is refused, which needs no I/O."""
    return case.opening.scene == "foreign" and outcome.kind in _FOREIGN


def _is_at_declared_end(case: Case, step: Step, outcome: Outcome, position: int) -> bool:
    """Return whether a read reports the end at the declared length.

    A reader that gets the length need not ask the store for it.
    """
    if case.declared is None or outcome.raised:
        return False
    if step.op.startswith("pread"):
        position = step.args[0]
    value = outcome.value[0] if step.op.endswith("_buffer") else outcome.value
    return position >= case.declared and value in (-1, b"")


def _noticed(case: Case, outcome: Outcome) -> bool:
    return case.status == "stale" and outcome.kind in IO_KINDS


def _failing(case: Case) -> frozenset[Kind]:
    if case.opening.scene == "missing" and HADOOP_TESTS in case.features:
        return frozenset({Kind.NOT_FOUND})
    return _FOREIGN if case.opening.scene == "foreign" else IO_KINDS


def _with_status(call: BuilderCall, length: int) -> Call:
    if call[0] != "with_file_status":
        return call
    _, kind, stated = call
    if kind == "none" or kind in MISNAMED:
        return ("with_file_status", None)
    return ("with_file_status", FileStatus("/file", length if stated is None else stated))
