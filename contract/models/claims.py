"""Which clauses an open through a builder speaks for, and which of them a failure breaks.

A table: the first claim that applies is the broken one, so the more particular stand first. It is
asked when a failing program has been made as small as it gets, so nearly every call left matters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from fscontract.contract.models import cases
from fscontract.contract.models.cases import CaseTest, SettingTest, opens, settings
from fscontract.contract.models.opening import Case
from fscontract.contract.openfile_options import (
    FOOTER_CACHE,
    LENGTH,
    PREFIX,
    SPLIT_END,
    SPLIT_START,
)
from fscontract.contract.opening import BuilderCall
from fscontract.contract.outcome import Kind

_SET, _BUILD, _GET, _READ = "set", "build", "get", "read"
_OPEN = frozenset({_SET, _BUILD, _GET})
_ANY = _OPEN | {_READ}
#: What is said of the streams of one builder, and what says it of any two streams of a file: while
#: that is broken, nothing is told of the former.
TOLD_BY = {"open.build-twice": "open.independent"}
_BY_STATUS = {
    "none": "open.status-null",
    "parents": "open.status-filename-only",
    "scheme": "open.status-path",
    "subclass": "open.status-class",
    "located": "open.status-located",
    "name": "open.status-name",
    "name-subclass": "open.status-foreign-name",
    "stale": "open.status-pinned",
}


class Fault(NamedTuple):
    """How a program failed: the stage, the outcome's kind, what was wrong with it, and whether it
    goes well with `opt` and `must` exchanged. `op` is the failing call's name."""

    stage: str
    kind: Kind
    aspect: str = ""
    exchanged: bool = False
    op: str = ""

    @property
    def ended(self) -> bool:
        """Whether a read found an end, or fewer bytes, where there should be more."""
        return self.stage == _READ and (self.aspect == "end" or self.kind is Kind.EOF)


class Claim(NamedTuple):
    """A clause that a case speaks for, and the faults by which it is the broken one."""

    clause: str
    applies: CaseTest
    broken: Callable[[Case, Fault], bool]


class OptionClaim(NamedTuple):
    """As a claim, for each setting of a standard or another key."""

    clause: str
    applies: SettingTest
    broken: Callable[[Case, Fault], bool]


def charge(case: Case, fault: Fault) -> str:
    """The clause that is broken by a fault."""
    for claim in CLAIMS:
        if claim.applies(case) and claim.broken(case, fault):
            return claim.clause
    for setting in reversed(settings(case)):
        for option in OPTION_CLAIMS:
            if option.applies(case, setting) and option.broken(case, fault):
                return option.clause
    return "open.build-future"


def speaks_for(case: Case) -> Iterator[str]:
    """The clauses that hold for a case if all goes well."""
    yield from (claim.clause for claim in CLAIMS if claim.applies(case))
    if case.readable and not case.resolution.refusals:
        yield "open.build-future"
        for setting in settings(case):
            yield from (o.clause for o in OPTION_CLAIMS if o.applies(case, setting))


def exchanged(calls: tuple[BuilderCall, ...]) -> tuple[BuilderCall, ...]:
    """The calls with `opt` in the place of `must`, and the other way round."""
    return tuple((_exchange(name), *args) for name, *args in calls)


def _exchange(name: str) -> str:
    kind, _, rest = name.partition("_")
    other = {"opt": "must", "must": "opt"}.get(kind, kind)
    return f"{other}_{rest}" if rest else other


# How a case fails -----------------------------------------------------------------------------


def _at(*stages: str) -> Callable[[Case, Fault], bool]:
    return lambda case, fault: fault.stage in stages


def _at_any(case: Case, fault: Fault) -> bool:
    return fault.stage in _ANY


def _never(case: Case, fault: Fault) -> bool:
    return False  # the model names it itself


def _unsupported(case: Case, fault: Fault) -> bool:
    return fault.kind is Kind.UNSUPPORTED and fault.stage in (_BUILD, _GET)


def _only_one_way(*stages: str) -> Callable[[Case, Fault], bool]:
    return lambda case, fault: fault.exchanged and fault.stage in stages


def _early_end(case: Case, fault: Fault) -> bool:
    return fault.ended


def _refused_read(case: Case, fault: Fault) -> bool:
    """A read that raised, and not since it found an end."""
    return fault.stage == _READ and fault.kind is not Kind.RETURNED and not fault.ended


def _not_vectored(case: Case, fault: Fault) -> bool:
    return fault.stage == _READ and fault.op != "read_vectored"


_REFUSED = _at(_BUILD, _GET)
CLAIMS = (
    Claim("open.option-methods", cases.calls_by_form, _at(_SET)),
    Claim("open.last-wins", cases.set_twice, _at(_BUILD, _GET, _READ)),
    Claim("open.must-unsupported", cases.refused(Kind.UNSUPPORTED, False), _REFUSED),
    Claim("open.std-must-unrecognised", cases.refused(Kind.ILLEGAL_ARGUMENT, True), _REFUSED),
    Claim("open.must-unknown", cases.refused(Kind.ILLEGAL_ARGUMENT, False), _REFUSED),
    Claim("open.build-checks-options", lambda c: bool(c.resolution.refusals), _at_any),
    Claim("open.option-null", lambda c: bool(c.resolution.rejected_calls), _never),
    Claim("open.build-missing", cases.scene("missing"), _never),
    Claim("open.build-directory", cases.scene("directory"), _never),
    Claim("open.permission-delayed", cases.scene("unreadable"), _never),
    Claim("open.foreign-path", cases.scene("foreign"), _never),
    Claim("open.get-ioerror", cases.scene("missing", "directory", "unreadable"), _never),
    Claim("open.read-fails", cases.scene("missing", "directory", "unreadable"), _never),
    Claim(
        "open.failure-stage", cases.scene("missing", "directory", "unreadable", "foreign"), _never
    ),
    Claim("open.build-twice", lambda c: c.streams > 1 and opens(c), _at_any),
    Claim("open.deferred-state", cases.scene("late"), _at_any),
    Claim("open.status-name-when", lambda c: c.misnamed and opens(c), _at(_SET)),
    Claim("open.status-name-used", cases.misnamed_otherwise, _at(_READ)),
    Claim("open.length-status", cases.status_and_length, _at(_READ)),
    *(Claim(clause, cases.has_status(kind), _at_any) for kind, clause in _BY_STATUS.items()),
    Claim("open.opt-same-validation", cases.any_of(cases.unusual), _only_one_way(*_ANY)),
    Claim("open.std-must-ok", cases.any_of(cases.is_standard(True)), _only_one_way(_READ)),
    Claim("open.number-trim", cases.any_of(cases.padded), _at_any),
    Claim("open.split-reversed", cases.reversed_split, _at_any),
    Claim("open.std-mixed", cases.mixed, _REFUSED),
    Claim("open.length-over-split", cases.length_and_split, _early_end),
    Claim("open.split-past-end", cases.any_of(cases.ends_within), _refused_read),
    Claim("open.split-hint", cases.any_of(cases.is_split), _at(_READ)),
    Claim("open.length-overstated", cases.declared_longer, _at_any),
    Claim("open.length-longer-file", cases.declared_shorter, _REFUSED),
    Claim("open.length-minimum", cases.declared, _early_end),
    Claim("open.length-beyond", cases.declared_shorter, _at(_READ)),
)

OPTION_CLAIMS = (
    OptionClaim("open.buffer-size-method", cases.by("buffer_size"), _at_any),
    OptionClaim("open.std-opt-unrecognised", cases.unknown(PREFIX), _at_any),
    OptionClaim("open.opt-foreign", cases.foreign, _at_any),
    OptionClaim("open.opt-unknown", cases.unknown(None), _at_any),
    OptionClaim("open.std-opt-unsupported", cases.is_standard(False), _unsupported),
    OptionClaim("open.std-must-unsupported", cases.is_standard(True), _unsupported),
    OptionClaim("open.std-recognised", cases.is_standard(True), _only_one_way(_BUILD)),
    OptionClaim("open.std-must-ok", cases.is_standard(True), _only_one_way(_GET)),
    OptionClaim("open.length-negative", cases.negative_of(LENGTH), _at_any),
    OptionClaim("open.split-negative", cases.negative_of(SPLIT_START, SPLIT_END), _at_any),
    OptionClaim("open.number-default", cases.unreadable_number, _at_any),
    OptionClaim("open.policy-list", cases.policies("list"), _REFUSED),
    OptionClaim("open.policy-unknown", cases.policies("unknown"), _at_any),
    OptionClaim("open.policy-vector", cases.policies("vector"), _not_vectored),
    OptionClaim("open.policy-names", cases.policies("known"), _REFUSED),
    OptionClaim("open.policy-data", cases.policies("known"), _at(_READ)),
    OptionClaim("open.footer-hint", cases.of(FOOTER_CACHE), _at_any),
    OptionClaim("open.std-recognised", cases.is_standard(None), _at_any),
)

#: Every clause that this module or the stages' judges can name.
CLAUSES = (
    frozenset({"open.build-future"})
    | {claim.clause for claim in CLAIMS}
    | {claim.clause for claim in OPTION_CLAIMS}
)
