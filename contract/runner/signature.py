"""Signatures of failures: the call, how it ended, and under which circumstances.

Two programs show the same failure if their signatures are equal. A signature contains no data, no
positions and no messages, so that it stays the same from run to run, and an entry of a file of
known failures covers exactly one failure. Its traits are what it may share with other failures that
the same defect makes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fscontract.contract.api.openfile_options import BUFFER_SIZE
from fscontract.contract.binding import MethodCall
from fscontract.contract.models.acceptor import delivered
from fscontract.contract.models.openfile_stages import READ_OPERATIONS
from fscontract.contract.models.python_read import RETURN_LINES, is_bytes, room
from fscontract.contract.models.readers import RULES as READERS
from fscontract.contract.models.stream_state import Failure, State, opened
from fscontract.contract.models.transition_table import Call
from fscontract.contract.program.content import is_ambiguous
from fscontract.contract.program.filesystem_calls import WITHOUT_STREAM
from fscontract.contract.program.open_calls import BuilderCall
from fscontract.contract.program.outcome import FILL, Kind, Outcome
from fscontract.contract.program.program import BLOCKS, OF_FILE, OPERATIONS, Program, Step
from fscontract.contract.runner.call_details import is_detail
from fscontract.contract.runner.crashes import STAYING
from fscontract.contract.runner.execution import Violation
from fscontract.contract.runner.result import USES
from fscontract.contract.runner.result_relation import call_name, of_result

#: Operations that return a position: those that read it, and the one that sets it.
_TELL = frozenset({"get_pos", "py_tell"})
_SEEK = "py_seek"
#: A circumstance that shrinking adds, because it makes files shorter.
AT_END = "at the end of the file"
FAILED = "after a failed call"
_ELSEWHERE = "after a call on another stream"
_BEYOND = "beyond the first buffer"
_AWAY = "away from the start"
#: The relation of bytes of which the first one is right.
WRONG_LATER = "wrong after the first byte"
#: The relation of a single byte that may be of several offsets, or of none.
WRONG_BYTE = "wrong byte"
_PAST_END = "past the end of the file"
#: The relation of a range of which all bytes are right, but too few or too many.
_OTHER_LENGTH = "a range of another length"
#: The relation of the right lines with empty ones, which no file has.
_EMPTY_LINE = "an empty line"
#: Relations of accepted reads into too little space: even the part that fits must raise, or not.
_ENDS, _CUT = "despite the end of the file", "into too little space"
#: Relations of bytes from another offset.
DISPLACED = frozenset({"too early", "too late"})
#: Relations that a wrong position explains, as far as there are bytes.
_OF_POSITION = frozenset(
    {"", "end of file", "no bytes"} | DISPLACED | {WRONG_LATER, WRONG_BYTE, _PAST_END}
)
#: The aspect of a call that must be rejected: its clause names the condition.
_ACCEPTED = "accepted"
#: Circumstances in which very different defects show: they only describe the position.
_EVERYWHERE = frozenset({FAILED, AT_END, _AWAY, _BEYOND})
#: An argument, or a word of an operation, that names a file that is not there.
_MISSING = "missing"
#: The trait of calls of a method that the object lacks.
LACKS_METHODS = "lacks methods"
#: The method that opens files, and the one that writes the files of a call.
_OPEN, _WRITES = "open", "pipe_file"
#: The aspects of calls that returned a wrong result.
_OF_RESULT = frozenset({"data", "moved", "end", "value"})
#: Circumstances in the arguments of the call: they only describe it.
_AT_OFFSET, _SEVERAL = "at an offset in the buffer", "several ranges"
_NEGATIVE = {"begin": "a negative begin", "end": "a negative end"}
_EVERYWHERE |= {_AT_OFFSET, _SEVERAL, *_NEGATIVE.values()}
#: Circumstances of the offset at which bytes are read, and of the one to which they go.
PLACES = frozenset({_AWAY, _BEYOND, _AT_OFFSET})
#: Circumstances of a place in the file.
_OF_PLACE = PLACES | {AT_END}
#: A seek that returns a wrong position because of an earlier call, wherever that was made.
_WRONG_END = "later call: returns"
#: Circumstances that say nothing of what has been done to the stream, but that a call failed.
ANYWHERE = _OF_PLACE | {FAILED}
#: Relations and exceptions of reads that find the end of the file too early.
_EARLY_ENDS = frozenset({"end of file", "no bytes", Kind.EOF.value})
#: Relations of wrong bytes of one defect: which one it is depends on the place and the length.
WRONG_BYTES = DISPLACED | {"bytes not in the file", WRONG_LATER, WRONG_BYTE}
#: The end of clauses on reads that return fewer bytes than they could.
_FEWER = ".full"
#: The message of a stream that is closed.
_CLOSED = re.compile(r"\bclosed\b", re.IGNORECASE)
#: The start of circumstances that name a file status which the stream was opened with.
_STATUS = "status "
#: The start of the circumstance that tells names of files apart, and the characters that it has.
_NAME, _NAME_LENGTH = "name ", 20
#: Words for such reads.
_WRONG, _EARLY = "wrong bytes", "ends early"
#: The start of circumstances that name an earlier call; closing, unbuffering and changing the
#: source have effects of their own.
_AFTER = "after "
_TELLING = frozenset({"after close", "after unbuffer", "after seek_to_new_source"})
_TELLING |= {"after a call on another stream", "after a change of the file"}


def relation(step: Step, state: State, outcome: Outcome, failure: Failure) -> str:
    """Return the relation of an outcome to the right one, such as "too early" or "zeros".

    `step` has numbers for anchors. Return "" if the relation is unknown.
    """
    if outcome.raised:
        return _class_of(outcome) if outcome.kind is Kind.OTHER else ""
    if failure.aspect == _ACCEPTED:
        return _of_too_little_space(step, state)
    value, differs = outcome.value, of_result(step, state, outcome)
    if differs is not None:
        return differs
    if step.op in _TELL or step.op == _SEEK:
        return _of_position(step, state, value)
    count, at = _of_count(step, state, value), _position(step, state)
    if count == _PAST_END and at is not None and at >= state.longest:
        return count  # there, no bytes are right
    return ", ".join(filter(None, (count, _of_data(step, state, outcome))))


def _of_too_little_space(step: Step, state: State) -> str:
    """Return how an accepted read into too little space is wrong; "" for any other call."""
    if step.op != "read_fully" or type(step.args[1]) is not int or not state.is_open:
        return ""
    position, size, offset, length = step.args
    if position < 0 or not 0 <= offset <= size < offset + length:
        return ""
    return _ENDS if offset < size and position + size - offset > state.longest else _CUT


def circumstances(state: State, buffer: int, step: Step, failure: Failure) -> Iterator[str]:
    """Yield the circumstances of the state in which a call fails.

    `buffer` is the possible end of the target's buffer, in bytes.
    """
    if not state.is_open:
        yield "after close"
    if state.origin.failed:
        yield FAILED
    if state.changed:
        yield "after a change of the file"
    if failure.aspect == _ACCEPTED:
        return
    if failure.aspect in _OF_RESULT:
        yield from _of_arguments(step)
    at = _position(step, state)
    if at is None or at < 0:
        return
    if at >= state.longest:
        yield AT_END
    elif at + max(_length(step) or 0, 0) > buffer > 0:
        yield _BEYOND


def name_circumstance(name: str) -> str:
    """Return the circumstance that a file has this name, in characters of ASCII."""
    return f"{_NAME}{name[:_NAME_LENGTH]!a}"


def _of_arguments(step: Step) -> Iterator[str]:
    arguments = _arguments(step)
    start = arguments.get("offset", arguments.get("start"))
    if "size" in arguments and (_number(start) or 0) > 0:
        yield _AT_OFFSET
    if len(arguments.get("ranges") or ()) > 1:
        yield _SEVERAL
    negative = [name for name in _NEGATIVE if (_number(arguments.get(name)) or 0) < 0]
    if negative:
        yield _NEGATIVE[negative[0]]


#: Operations that pickle, in this process and for another one.
_PICKLES = frozenset({"fs_pickle", "fs_other_process"})
#: Operations of Python files that call a method of another operation, too.
_SAME_METHOD = {"py_seek": "seek", "py_tell": "get_pos", "py_readinto": "read_into"}
#: The exception with which a binding reports a result of another type.
_WRONG_TYPE = "WrongType"
#: Operations that call the method of another one for a list of paths.
_OF_LIST = {"pa_infos": "pa_info"}
#: Exceptions of readers that don't come from wrong bytes.
_OF_READER = frozenset({Kind.NULL, Kind.UNSUPPORTED, Kind.NOT_FOUND, Kind.ENVIRONMENT})
#: Calls before a failing one that are no circumstance of it.
_UNNAMED = frozenset({"after close", "after change", "after reopen"})


def signature(
    violation: Violation,
    clause: str,
    circumstances: Iterable[str],
    is_displaced: bool,
    approach: int,
) -> str:
    """Return the signature of a shrunk failure that is charged to `clause`.

    If that is the clause of an earlier call, it does not depend on the later call that showed it,
    unless that one was accepted.
    `is_displaced` means that the stream's position is wrong, whichever call showed it. The first
    `approach` calls set the position, like a seek.
    """
    kind, relation = _word(violation.outcome.kind), violation.relation
    if violation.step.op in READERS:
        kind, relation = _of_reader(violation.outcome, kind, relation)
    how = f"{call_name(violation.step)}: {kind}{f' {relation}' if relation else ''}"
    if clause == violation.failure.cause != violation.failure.clause:
        how = _of_later_call(violation)
    before = [*calls_before(violation.program, approach, violation.index)]
    if _ELSEWHERE in before:
        # Whichever calls show it, and wherever, the streams share what they should not.
        is_displaced, before = True, [_ELSEWHERE]
        circumstances = [c for c in circumstances if c not in (AT_END, _BEYOND)]
        relation = "elsewhere" if _OF_POSITION.issuperset(relation.split(", ")) else relation
    if is_displaced:
        how = f"position: {relation or kind}"
    if how == _WRONG_END or relation == _EMPTY_LINE:
        before, circumstances = (
            [c for c in found if c not in _OF_PLACE] for found in (before, circumstances)
        )
    if relation == _EMPTY_LINE:  # it is at the end, wherever the calls before began
        before = []
    return "; ".join([how, *dict.fromkeys((*circumstances, *before))])


def _of_reader(outcome: Outcome, kind: str, relation: str) -> tuple[str, str]:
    """Return how a reader of another library ended.

    Its exception depends on which wrong bytes it meets, unless it misses a method or a file.
    """
    is_own = outcome.kind in _OF_READER or relation == AttributeError.__name__
    return (kind, relation) if is_own else ("not as written", "")


def _of_later_call(violation: Violation) -> str:
    """Return how the effect of an earlier call shows in the failing one."""
    aspect = violation.failure.aspect
    by = f" {violation.step.op}" if aspect == _ACCEPTED else ""
    return f"later call{by}: {aspect}"


def calls_before(program: Program, approach: int, index: int) -> Iterator[str]:
    """Yield what a program does before the call at `index`, one entry for each kind of call."""
    opening, faults = program.opening, program.faults
    if program.at is not None:
        yield f"open of {program.at.kind}"
    if opening is not None:
        if opening.scene != "file":
            yield f"open of {opening.scene}"
        yield from sorted({_setting(call) for call in opening.calls})
    if faults is not None:
        yield from sorted(f"fault {kind}" for kind in faults.kinds)
    if approach:
        yield _AWAY
    steps = program.steps[approach : max(index, 0)]
    yield from sorted({f"after {_named(step)}" for step in steps} - _UNNAMED)
    if 0 <= index < len(program.steps):
        stream = program.steps[index].stream
        if any(step.stream != stream for step in steps):
            yield _ELSEWHERE


def circumstances_of_leak(program: Program) -> Iterator[str]:
    """Yield how a program that leaks opens its streams, and the kinds of its calls.

    Reads are of one kind: a stream that connects in the first one leaks in each. So are calls of a
    filesystem. Under faults there are none.
    """
    if program.faults is None:
        yield from calls_before(program, 0, 0)
        yield from sorted({f"after {_kind(step)}" for step in program.steps} - _UNNAMED)


def _kind(step: Step) -> str:
    """Return the method that a call calls, or one word for all reads, or calls without a stream."""
    if step.op in READ_OPERATIONS:
        return "read"
    return "call" if step.op in WITHOUT_STREAM else _named(step)


def _named(step: Step) -> str:
    """Return the method that a call calls; a skip back is apart from one that advances."""
    name = _SAME_METHOD.get(step.op, step.op)
    return "skip back" if name == "skip" and (_number(step.args[0]) or 0) < 0 else name


#: The word for every exception.
RAISED = "raised"
_RAISED_KINDS = frozenset(kind.value for kind in Kind) - {Kind.RETURNED.value}


def words(signature: str) -> frozenset[str]:
    """Return the words by which a clause tells ways to fail apart: the outcome and its relation."""
    place, _, how = signature.partition("; ")[0].partition(": ")
    if place == "scenario":  # of a pipeline, with the class of an exception
        ends = (part.endswith(("Error", "Exception")) for part in signature.split("; "))
        return frozenset({RAISED} if any(ends) else ())
    kind, _, relation = how.partition(" ")
    found = {how, kind, *relation.split(", "), *how.split(", ")} - {""}
    return frozenset(found | {RAISED} if kind in _RAISED_KINDS else found)


def traits(
    violation: Violation, signature: str, called: Sequence[MethodCall] = ()
) -> tuple[str, ...]:
    """Return what a shrunk failure may share with others of the same cause.

    `called` are the methods of the target that its call called, if known.
    A call of a method that is not there shows nothing else of the stream.
    """
    if violation.outcome.lacks_method:
        return (LACKS_METHODS,)
    step, (how, *circumstances) = violation.step, signature.split("; ")
    kinds = _kinds(violation)
    methods = {step.op, _OF_LIST.get(step.op, step.op)}
    found = {f"{method} {kind}" for method in methods for kind in kinds}
    if step.op in READ_OPERATIONS:
        found.update(f"read: {way}" for way in _ways_of_read(step, violation, kinds))
        found.update("status" for c in circumstances if c.startswith(_STATUS))
    elif _reads_data(step, violation.outcome):
        uses = USES if called else ""
        if not called or any(call.name == _OPEN for call in called):
            found.update(f"{uses}read: {way}" for way in (_WRONG, _EARLY))
    found.update(_of_methods(step, called))
    if how.startswith("position:"):
        found.add("position")
        before = violation.program.steps[violation.index - 1 : max(violation.index, 0)]
        if FAILED not in circumstances:
            found.update(f"{s.op} returned" for s in before if s.op not in STAYING)
    closes = [s.op == "close" for s in violation.program.steps[: max(violation.index, 0)]]
    if any(closes) or (step.op in BLOCKS and not violation.outcome.raised):
        found.add("after close")
    elif step.op == "py_closed" or _CLOSED.search(violation.outcome.detail):
        found.add("closed early")
    if step.op in WITHOUT_STREAM and _MISSING in (*step.args, *step.op.split("_")):
        found.update(f"{_MISSING} {kind}" for kind in kinds)
    if step.op in _PICKLES:
        found.add(f"pickle of {step.args[0]}")
    if _opens_deleted(violation.program):
        found.add("open of missing")
    found.update(filter(_tells, circumstances))
    return tuple(sorted(found))


def _of_methods(step: Step, called: Iterable[MethodCall]) -> Iterator[str]:
    """Yield traits of the methods that a call is, and of those on which it is built."""
    for name, callers, kind in called:
        if name not in callers and _WRITES not in (name, *callers):
            uses = USES if callers or step.op in READERS else ""
            yield f"{uses}{name}(): {_word(kind)}"


def _opens_deleted(program: Program) -> bool:
    """Return whether the last stream is opened after the file was deleted."""
    of_file = [s for s in program.steps if s.op in OF_FILE]
    return [(s.op, *s.args) for s in of_file[-2:]] == [("change", "delete"), ("reopen",)]


def _kinds(violation: Violation) -> set[str]:
    """Return how a call ended, or each range of a vectored read; or that it was not refused."""
    if violation.failure.aspect == _ACCEPTED:
        return {_ACCEPTED}
    outcome = violation.outcome
    ranges = outcome.value if type(outcome.value) is tuple else ()
    raised = {_word(r.kind) for r in ranges if isinstance(r, Outcome) and r.raised}
    if _class_of(outcome) == _WRONG_TYPE:
        return {Kind.RETURNED.value}
    return raised or {_word(outcome.kind)}


def _word(kind: Kind) -> str:
    """Return the name of a kind in signatures, which do not tell I/O errors apart."""
    return Kind.IO.value if kind is Kind.NOT_FOUND else kind.value


def _ways_of_read(step: Step, violation: Violation, kinds: set[str]) -> set[str]:
    """Return how a stream's read is wrong, with one word for what depends on place and length."""
    if _ACCEPTED in kinds:
        return set()
    relations = {*violation.relation.split(", "), *kinds} - {"", Kind.RETURNED.value}
    if _EMPTY_LINE in relations:
        return {_EMPTY_LINE}
    is_early = relations & _EARLY_ENDS or _is_empty(step, violation.outcome)
    is_early = is_early or violation.failure.clause.endswith(_FEWER)
    if is_early or (not relations and violation.failure.aspect == "end"):
        return relations - _EARLY_ENDS | {_EARLY}
    return relations - WRONG_BYTES | {_WRONG} if relations & WRONG_BYTES else relations


def _reads_data(step: Step, outcome: Outcome) -> bool:
    """Return whether a call without a stream gives data of files, which may also end too early."""
    if step.op in READERS:
        return outcome.kind not in _OF_READER
    return step.op in WITHOUT_STREAM and (step.op == "fs_text" or _has_bytes(outcome.value))


def _has_bytes(value: object) -> bool:
    """Return whether bytes are in a result, such as a list of those of several files."""
    if isinstance(value, dict):
        return _has_bytes([*value.values()])
    if isinstance(value, list | tuple):
        return any(_has_bytes(one) for one in value)
    return isinstance(value, bytes)


def _is_empty(step: Step, outcome: Outcome) -> bool:
    """Return whether bytes, or the last of several lines, are empty, or there is no next line."""
    value = outcome.value
    if step.op == "py_next" and value is None:
        return not outcome.raised
    last = value[-1] if isinstance(value, list | tuple) and value else value
    return isinstance(last, bytes) and not last


def _tells(circumstance: str) -> bool:
    if circumstance in _EVERYWHERE or circumstance.startswith(_NAME) or is_detail(circumstance):
        return False
    return circumstance in _TELLING or not circumstance.startswith(_AFTER)


def _setting(call: BuilderCall) -> str:
    method, key, *_ = call
    if method == "buffer_size":
        return BUFFER_SIZE
    return f"{_STATUS}{key}" if method == "with_file_status" else str(key)


def _class_of(outcome: Outcome) -> str:
    """Return the class of an exception, or what was wrong, without numbers."""
    return re.sub(r"\d+", "N", outcome.detail.partition(":")[0])


def _arguments(step: Step) -> dict[str, Any]:
    return dict(zip(OPERATIONS[step.op], step.args, strict=True))


def _number(value: object) -> int | None:
    return value if type(value) is int else None


def _position(step: Step, state: State) -> int | None:
    """Return the offset at which a call reads, None if that is not known."""
    if step.op == "read_vectored" or step.op in WITHOUT_STREAM:
        return None
    if step.op != "seek" and "position" in OPERATIONS[step.op]:
        return _number(_arguments(step)["position"])
    return state.pos if state.pos >= 0 else None


def _length(step: Step) -> int | None:
    """Return how many bytes a call asks for, None if it does not say."""
    if step.op in ("read_byte", "py_next"):
        return 1
    if step.op == "py_readinto":
        return room(Call(step.op, step.args, opened(b""), frozenset()))
    arguments = _arguments(step)
    if "start" in arguments:
        limit = arguments["size"] if arguments["limit"] is None else arguments["limit"]
        start = _number(arguments["start"])
        return None if start is None or _number(limit) is None else limit - start
    named = (arguments[name] for name in ("length", "size", "limit") if name in arguments)
    return _number(next(named, None))


def _of_position(step: Step, state: State, value: object) -> str:
    """Return the relation of a returned position to the position of the stream."""
    if type(value) is not int:
        return f"a {type(value).__name__}"
    expected: int | None = state.pos
    if step.op == _SEEK:
        offset, whence = step.args
        base = {0: 0, 1: state.pos, 2: state.longest}.get(whence)
        expected = None if base is None or type(offset) is not int else base + offset
    if expected is None or state.pos < 0 or value == expected:
        return ""
    return "negative" if value < 0 else "too early" if value < expected else "too late"


def _count(value: object) -> int | None:
    """Return the number of bytes that a call reports to have read."""
    return _number(value[0] if type(value) is tuple and value else value)


def _of_count(step: Step, state: State, value: object) -> str:
    count, length = _count(value), _length(step)
    if step.op == "read_byte" and count == -1:
        return "end of file"
    if count is None or step.op == "read_byte" or "read" not in step.op:
        return "negative" if count is not None and count < 0 else ""
    if count < -1:
        return "negative count"
    if count <= 0:
        return "end of file" if count else "no bytes"
    at = _position(step, state)
    if at is not None and at >= 0 and count > max(state.longest - at, 0):
        return "past the end of the file"
    return "more than asked for" if length is not None and count > length else ""


def _of_data(step: Step, state: State, outcome: Outcome) -> str:
    """Return the source of wrong bytes; "" if they are right, or there are none."""
    if step.op == "read_vectored":
        return _of_ranges(step, state, outcome.value)
    data = bytes_of(step, state, outcome)
    if _has_empty_line(step, state, outcome.value):
        return _EMPTY_LINE
    if data:
        return _of_bytes(data, _position(step, state), state)
    is_empty = type(outcome.value) is bytes or outcome.value == () or _is_empty(step, outcome)
    return "no bytes" if is_empty and data is not None else ""


def _has_empty_line(step: Step, state: State, value: object) -> bool:
    """Return whether lines are empty that are right otherwise."""
    if step.op not in RETURN_LINES or type(value) is not tuple:
        return False
    rest = state.versions[-1][state.pos :] if state.pos >= 0 else b""
    return b"" in value and all(map(is_bytes, value)) and b"".join(value) == rest


def _of_ranges(step: Step, state: State, results: object) -> str:
    """Return what is wrong with the first wrong range, rather one with the bytes of another."""
    ranges = step.args[0]
    if type(ranges) is not tuple or type(results) is not tuple or len(ranges) != len(results):
        return ""
    found = [_of_range(*pair, state) for pair in zip(ranges, results, strict=True)]
    wrong = [relation for relation in found if relation]
    return next((r for r in wrong if r != _OTHER_LENGTH), next(iter(wrong), ""))


def _of_range(asked: object, result: object, state: State) -> str:
    if not isinstance(asked, tuple) or not isinstance(result, Outcome):
        return ""
    at, length = map(_number, asked)
    if at is None or length is None or at < 0 or length < 0:
        return ""
    inside = any(at + length <= len(version) for version in state.versions)
    if result.raised:
        return f"a range raises {_word(result.kind)}" if inside else ""
    if result.buffer is None or not inside:
        return "a range without data" if inside else "a range past the end"
    wrong = _of_bytes(result.buffer[:length], at, state) if length else ""
    return wrong or (_OTHER_LENGTH if len(result.buffer) != length else "")


def _of_bytes(data: bytes, at: int | None, state: State) -> str:
    if at is not None and any(v[at : at + len(data)] == data for v in state.versions):
        return ""
    if data == bytes([FILL]) * len(data):
        return "buffer not filled"
    if not any(data):
        return "zeros"
    version = state.versions[-1]
    if is_ambiguous(data, len(version)):
        return WRONG_BYTE
    if at is None or at < 0:
        return "" if data in version else "bytes not in the file"
    if data[:1] == version[at : at + 1]:
        return WRONG_LATER
    found = version.find(data)
    if found < 0:
        return "bytes not in the file"
    return "too early" if found < at else "too late"


def bytes_of(step: Step, state: State, outcome: Outcome) -> bytes | None:
    """Return the bytes that a read of any kind delivered, None if it does not say."""
    buffer = outcome.buffer
    if buffer is None or step.op == "py_readinto" or "position" not in OPERATIONS[step.op]:
        return delivered(Call(step.op, step.args, state, frozenset()), outcome)
    arguments = _arguments(step)
    start = _number(arguments.get("offset", arguments.get("start", 0))) or 0
    count = _count(outcome.value)
    length = _length(step) if count is None else count
    return buffer[start : start + max(length or 0, 0)]
