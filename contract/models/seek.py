"""Closeable, Seekable, CanUnbuffer and StreamCapabilities: the operations that read no data."""

from __future__ import annotations

from functools import partial

from fscontract.contract.models.stream_state import ANY, PAST, Failure, Origin, State
from fscontract.contract.models.transition_table import (
    EOF,
    HADOOP_TESTS,
    HUGE,
    IO,
    UNSUPPORTED,
    Accepted,
    Call,
    Operation,
    Refusal,
    Row,
    always,
    closed,
    describe_position,
    is_count,
    is_open,
    unexpected,
)
from fscontract.contract.program.outcome import IO_KINDS, Outcome


def _returned(call: Call) -> tuple[str, ...]:
    return ("returns",)


# Closeable.close() ---------------------------------------------------------------------------


def _close(call: Call, outcome: Outcome) -> Accepted | Failure:
    if outcome.lacks_method:
        return Accepted(call.state, (), ("close.no-raise",))  # what can't be closed stays open
    after = State(call.state.pos, False, Origin("close"), call.state.versions, call.state.changed)
    if not outcome.raised:
        return Accepted(after, ("close.robust",) if call.state.origin.failed else ())
    return Accepted(after, (), ("close.robust" if call.state.origin.failed else "close.no-raise",))


def _close_again(call: Call, outcome: Outcome) -> Accepted | Failure:
    if outcome.raised:
        return Failure("close.idempotent", "", "raised")
    return Accepted(call.state)


CLOSE = Operation(
    refusals=(),
    rows=(
        Row(("close.no-raise",), is_open, _close, _returned),
        Row(("close.idempotent",), closed, _close_again, _returned),
    ),
    clauses=("close.state", "close.robust"),
)


# Seekable.getPos() ---------------------------------------------------------------------------


def _position_fits(state: State, value: int) -> bool:
    if state.pos == ANY:
        return value >= 0
    return value >= state.shortest if state.pos == PAST else value == state.pos


def _get_pos(call: Call, outcome: Outcome) -> Accepted | Failure:
    state = call.state
    if outcome.raised or not is_count(outcome.value):
        return unexpected(call, "getpos.value", outcome)
    if not _position_fits(state, outcome.value):
        return Failure("getpos.value", state.origin.moved, "moved")
    # A Python file over the stream may be further past the end than the stream reports.
    past = state.pos == PAST or (state.pos == ANY and outcome.value >= state.shortest)
    pos = PAST if past else outcome.value
    return Accepted(state.at(pos, state.origin), (state.origin.moved,))


def _get_pos_closed(call: Call, outcome: Outcome) -> Accepted | Failure:
    if outcome.raised and (outcome.kind not in IO_KINDS or _test_asks_when_closed(call)):
        return Failure("getpos.closed", "", "raised")
    return Accepted(call.state)


def _test_asks_when_closed(call: Call) -> bool:
    """Return whether Hadoop's test of unbuffer() asks for the position of a closed stream."""
    return call.has(HADOOP_TESTS) and call.has("supports-unbuffer")


def _describe_closed_position(call: Call) -> tuple[str, ...]:
    return ("returns",) if _test_asks_when_closed(call) else ("returns", "raises IO")


GET_POS = Operation(
    refusals=(),
    rows=(
        Row(("getpos.value",), is_open, _get_pos, describe_position),
        Row(
            ("getpos.closed",),
            closed,
            _get_pos_closed,
            _describe_closed_position,
        ),
    ),
)


# Seekable.seek(s) ----------------------------------------------------------------------------

_FAILED_SEEK = Origin("seek", "seek.fail-pos", "seek.fail-pos", failed=True)
#: After a seek beyond any file, which may fail at the next read instead.
_FAR_SEEK = _FAILED_SEEK._replace(before=HUGE)


def _past_end(call: Call) -> bool:
    return is_open(call) and call.args[0] > call.state.longest


def _seek_to(clause: str) -> Row:
    def accept(call: Call, outcome: Outcome) -> Accepted | Failure:
        if outcome.raised:
            return Failure(clause, call.state.origin.works, "raised")
        moved = clause if clause in ("seek.lax-eof", "seek.at-len", "seek.noop") else "seek.pos"
        if clause == "seek.lax-eof":
            # A stream may keep the position or stay at the end: reads find no data there.
            return Accepted(call.state.at(PAST, Origin("seek", moved, moved, before=call.args[0])))
        return Accepted(call.state.at(call.args[0], Origin("seek", moved, moved)))

    def applies(call: Call) -> bool:
        return is_open(call) and clause == _seek_case(call)

    return Row((clause,), applies, accept, _returned)


def _seek_case(call: Call) -> str:
    target = call.args[0]
    if target > call.state.longest:
        return "seek.lax-eof"
    if target == 0:
        return "seek.zero"
    if target == call.state.pos:
        return "seek.noop"
    return "seek.at-len" if target == call.state.longest else "seek.pos"


def _seek_closed(call: Call, outcome: Outcome) -> Accepted | Failure:
    """Judge a seek of a closed stream: it may return, or raise an IOException."""
    if outcome.raised and outcome.kind not in IO_KINDS:
        return Failure("seek.open", "", "raised")
    return Accepted(call.state)


def _stays_there(call: Call, outcome: Outcome) -> bool:
    """Return whether a seek to the current position returned; it may skip every check."""
    return not outcome.raised and bool(call.args[0] == call.state.pos)


SEEK = Operation(
    refusals=(
        Refusal(
            "seek.supported",
            lambda c: not c.has("supports-seek"),
            UNSUPPORTED,
            Origin("seek", "seek.supported"),
            tolerates=_stays_there,
        ),
        Refusal(
            "seek.open",
            lambda c: closed(c) and not c.has("supports-seek-on-closed-file"),
            IO,
            tolerates=_stays_there,
            should=True,
            tested=IO,
        ),
        Refusal(
            "seek.negative",
            lambda c: is_open(c) and c.args[0] < 0,
            IO,
            _FAILED_SEEK,
            strict=EOF,
            loses_position=True,
            test_stays=True,
        ),
        Refusal(
            "seek.past-eof",
            lambda c: _past_end(c) and c.has("rejects-seek-past-eof"),
            IO,
            _FAILED_SEEK,
            strict=EOF,
            loses_position=True,
        ),
        Refusal(
            "seek.lax-eof",
            lambda c: _past_end(c) and c.args[0] >= HUGE,
            IO,
            _FAR_SEEK,
            loses_position=True,
            optional=True,
        ),
    ),
    rows=(
        *(
            _seek_to(clause)
            for clause in ("seek.noop", "seek.zero", "seek.at-len", "seek.pos", "seek.lax-eof")
        ),
        Row((), closed, _seek_closed, lambda c: ("returns", "raises IO")),
    ),
)


# Seekable.seekToNewSource(offset) ------------------------------------------------------------


def _new_source(call: Call, outcome: Outcome) -> Accepted | Failure:
    state = call.state
    supported = call.has("supports-new-source")
    if outcome.raised:
        if supported:
            return Failure("new-source.moved", state.origin.works, "raised")
        if outcome.kind not in UNSUPPORTED:
            return Failure("new-source.unsupported-raise", "", "raised")
        stays = Origin(
            "seek_to_new_source", "new-source.none", "new-source.none", "new-source.none"
        )
        return Accepted(state.at(state.pos, stays), ("new-source.unsupported-raise",))
    if outcome.value is False:
        stays = Origin(
            "seek_to_new_source", "new-source.none", "new-source.none", "new-source.none"
        )
        return Accepted(
            state.at(state.pos, stays), () if supported else ("new-source.unsupported-false",)
        )
    if not supported or outcome.value is not True:
        return Failure(
            "new-source.moved" if supported else "new-source.unsupported-false", "", "value"
        )
    moved = Origin(
        "seek_to_new_source", "new-source.moved", "new-source.moved", "new-source.same-data"
    )
    return Accepted(state.at(state.pos, moved))


def _describe_source(call: Call) -> tuple[str, ...]:
    if call.has("supports-new-source"):
        return ("returns True", "returns False")
    return ("returns False", "raises UNSUPPORTED or IO")


SEEK_TO_NEW_SOURCE = Operation(
    refusals=(
        Refusal(
            "new-source.open",
            lambda c: closed(c) and c.has("supports-new-source"),
            UNSUPPORTED,
        ),
    ),
    rows=(
        Row((), is_open, _new_source, _describe_source),
        Row((), closed, lambda c, o: Accepted(c.state), _describe_source),
    ),
    clauses=(
        "new-source.moved",
        "new-source.unsupported-false",
        "new-source.unsupported-raise",
        "new-source.none",
        "new-source.same-data",
    ),
)


# CanUnbuffer.unbuffer() ----------------------------------------------------------------------


def _unbuffer(call: Call, outcome: Outcome) -> Accepted | Failure:
    if call.has("supports-unbuffer"):
        origin, clause = (
            Origin("unbuffer", "unbuffer.pos", "unbuffer.reacquire"),
            "unbuffer.reacquire",
        )
    else:
        origin, clause = (
            Origin("unbuffer", "unbuffer.default", "unbuffer.default"),
            "unbuffer.default",
        )
    if outcome.raised:
        return Failure(clause, call.state.origin.works, "raised")
    return Accepted(
        call.state.at(call.state.pos, origin), () if clause == "unbuffer.reacquire" else (clause,)
    )


def _unbuffer_closed(call: Call, outcome: Outcome) -> Accepted | Failure:
    return Failure("unbuffer.closed", "", "raised") if outcome.raised else Accepted(call.state)


UNBUFFER = Operation(
    refusals=(),
    rows=(
        Row((), is_open, _unbuffer, _returned),
        Row(("unbuffer.closed",), closed, _unbuffer_closed, _returned),
    ),
    clauses=("unbuffer.default", "unbuffer.reacquire", "unbuffer.pos"),
)


# StreamCapabilities.hasCapability(name) ------------------------------------------------------

#: capability -> its clause, the feature that decides it, the answer
CAPABILITIES: dict[str, tuple[str, str, bool]] = {
    "in:unbuffer": ("unbuffer.declare", "supports-unbuffer", True),
    "in:readbytebuffer": ("capabilities.bytebuffer", "supports-bytebuffer-read", True),
    "in:preadbytebuffer": ("capabilities.preadbytebuffer", "supports-bytebuffer-pread", True),
    "in:readvectored": ("read-vectored.capability", "supports-vectored-io", True),
    "IN:UNBUFFER": ("capabilities.case", "supports-unbuffer", True),
    "fscontract:no-such-capability": ("capabilities.unknown", "", False),
}
#: Names that no capability has, in the namespaces that Hadoop uses, and in none.
NAMELESS = (
    *("in:nosuch", "IN:NOSUCH", "In:NoSuch", "in:", "in:unbuffers", "in:un", "unbuffer", "nosuch"),
    *("out:nosuch", "fs.capability.nosuch", "fs:nosuch", "iostatistics:nosuch"),
)
_SHOULD = frozenset(
    {
        "capabilities.case",
        "capabilities.bytebuffer",
        "capabilities.preadbytebuffer",
        "read-vectored.capability",
    }
)


def _decides(clause: str, call: Call) -> bool:
    """Return whether a clause specifies the answer of an open stream."""
    named, feature, _ = _entry(call)
    known = named if not feature or call.has(feature) else "capabilities.kept"
    return is_open(call) and clause == known


def _entry(call: Call) -> tuple[str, str, bool]:
    """Return the clause of the answer, the feature that decides it, and the answer."""
    name = call.args[0]
    none = ("capabilities.unknown", "", False) if name in NAMELESS else ("", "", False)
    return CAPABILITIES.get(name, none)


def _capability(call: Call, outcome: Outcome) -> Accepted | Failure:
    clause, _, answer = _entry(call)
    if outcome.value is answer:
        return Accepted(call.state)
    if clause in _SHOULD:
        return Accepted(call.state, (), (clause,))
    return Failure(clause, "", "raised" if outcome.raised else "value")


def _describe_capability(call: Call) -> tuple[str, ...]:
    return (f"returns {_entry(call)[2]}",)


def _claims_nothing(call: Call, outcome: Outcome) -> Accepted | Failure:
    """Judge the answer for a feature that is not declared: a stream must not claim it."""
    if outcome.value is True:
        return Failure("capabilities.kept", "", "value")
    return Accepted(call.state)


HAS_CAPABILITY = Operation(
    refusals=(),
    rows=(
        *(
            Row((clause,), partial(_decides, clause), _capability, _describe_capability)
            for clause, _, _ in CAPABILITIES.values()
        ),
        Row(
            ("capabilities.kept",),
            partial(_decides, "capabilities.kept"),
            _claims_nothing,
            lambda c: ("returns False",),
        ),
        Row((), partial(_decides, ""), lambda c, o: Accepted(c.state), lambda c: ("anything",)),
        Row((), closed, lambda c, o: Accepted(c.state), lambda c: ("anything",)),
    ),
    clauses=tuple(entry[0] for entry in CAPABILITIES.values()),
)

#: `open` is not a step of its own; the first step exercises its clause.
OPEN = Operation((), (Row(("open.state",), always, lambda c, o: Accepted(c.state), _returned),))
