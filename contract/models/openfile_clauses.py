"""Decide which clause applies to an open through a builder.

Each function tests a case or one of its settings, or returns such a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from fscontract.contract.api.openfile_options import (
    BUFFER_SIZE,
    FOOTER_CACHE,
    LENGTH,
    PREFIX,
    READ_POLICY,
    SPLIT_END,
    SPLIT_START,
)
from fscontract.contract.models.openfile_resolution import read_value
from fscontract.contract.models.openfile_stages import Case
from fscontract.contract.program.open_calls import BuilderCall
from fscontract.contract.program.outcome import Kind

_NUMBERS = frozenset({BUFFER_SIZE, LENGTH, SPLIT_START, SPLIT_END})


class Setting(NamedTuple):
    """One call that sets an option."""

    method: str
    key: Any
    value: Any

    @property
    def mandatory(self) -> bool:
        """True if the method is one of the `must` methods."""
        return self.method.startswith("must")


CaseTest: TypeAlias = Callable[[Case], bool]
SettingTest: TypeAlias = Callable[[Case, Setting], bool]


def settings(case: Case) -> list[Setting]:
    """Return the calls that set an option, in order; a buffer size under its standard key."""
    result = []
    for method, *args in case.opening.calls:
        if method == "buffer_size":
            result.append(Setting(method, BUFFER_SIZE, args[0]))
        elif method != "with_file_status":
            result.append(Setting(method, *args))
    return result


# Tests of a case ------------------------------------------------------------------------------


def scene(*scenes: str) -> CaseTest:
    """Return a test: the scene is one of these, and the builder refuses nothing."""
    return lambda case: case.opening.scene in scenes and not case.resolution.refusals


def refused(kind: Kind, standard: bool) -> CaseTest:
    """Return a test: a key is refused with this kind, a standard key or another one."""

    def applies(case: Case) -> bool:
        return any(
            r.kind is kind and str(r.key).startswith(PREFIX) is standard
            for r in case.resolution.refusals
        )

    return applies


def opens(case: Case) -> bool:
    """Return whether a readable file exists, and the builder refuses nothing."""
    return case.readable and not case.resolution.refusals


def set_twice(case: Case) -> bool:
    """Return whether a key is set more than once."""
    keys = [setting.key for setting in settings(case)]
    return len(set(keys)) < len(keys)


def mixed(case: Case) -> bool:
    """Return whether some keys are set as optional and others as mandatory."""
    ways = {setting.key: setting.mandatory for setting in settings(case)}
    return opens(case) and len(set(ways.values())) == 2


def calls_by_form(case: Case) -> bool:
    """Return whether the last call is one of those that have a key."""
    calls = settings(case)
    return bool(calls) and calls[-1].method != "buffer_size" and opens(case)


def any_of(test: SettingTest) -> CaseTest:
    """Return a test: the file opens, and at least one setting passes `test`."""
    return lambda case: opens(case) and any(test(case, s) for s in settings(case))


def has_status(kind: str) -> CaseTest:
    """Return a test: the last status is of this kind, and the file opens."""
    return lambda case: case.status == kind and opens(case)


def declared_shorter(case: Case) -> bool:
    """Return whether the declared length is less than the file's length."""
    return case.declared is not None and case.declared < case.length and opens(case)


def declared(case: Case) -> bool:
    """Return whether a length is declared for the file."""
    return case.declared is not None and opens(case)


def declared_longer(case: Case) -> bool:
    """Return whether the declared length is greater than the file's length."""
    return case.declared is not None and case.declared > case.length and opens(case)


def misnamed_otherwise(case: Case) -> bool:
    """Return whether the status is another file's and has another length than this file."""
    lengths = [args[1] for name, *args in case.opening.calls if name == "with_file_status"]
    return case.misnamed and lengths[-1] not in (None, case.length) and opens(case)


def length_and_split(case: Case) -> bool:
    """Return whether the split ends before the declared length."""
    end = case.resolution.split_end
    return case.declared is not None and isinstance(end, int) and end < case.declared


def reversed_split(case: Case) -> bool:
    """Return whether the split starts after its end."""
    values = {s.key: read_value(s.method, s.value, s.key, case.table) for s in settings(case)}
    start, end = values.get(SPLIT_START), values.get(SPLIT_END)
    return isinstance(start, int) and isinstance(end, int) and start > end and opens(case)


# Tests of a setting ---------------------------------------------------------------------------


def _known(case: Case, key: Any) -> bool:
    return key in case.table.standard_keys or key in case.own_keys


def _standard(case: Case, setting: Setting) -> bool:
    return setting.key in case.table.standard_keys


def _meaning(case: Case, setting: Setting) -> Any:
    return read_value(setting.method, setting.value, setting.key, case.table)


def unknown(prefix: str | None) -> SettingTest:
    """Return a test: an optional key is unknown, and has the prefix if one is given.

    Without a prefix, the key must neither be another store's nor look like a standard one.
    """

    def applies(case: Case, setting: Setting) -> bool:
        key = setting.key
        if not isinstance(key, str) or _known(case, key) or setting.mandatory:
            return False
        if prefix is not None:
            return key.startswith(prefix)
        return not key.startswith(PREFIX) and key not in case.table.options

    return applies


def foreign(case: Case, setting: Setting) -> bool:
    """Return whether an optional key belongs to another store."""
    key = setting.key
    return key in case.table.options and not _known(case, key) and not setting.mandatory


def is_standard(mandatory: bool | None) -> SettingTest:
    """Return a test: the key is standard; `mandatory` requires a way to set it unless None."""

    def applies(case: Case, setting: Setting) -> bool:
        return _standard(case, setting) and mandatory in (None, setting.mandatory)

    return applies


def unreadable(case: Case, setting: Setting) -> bool:
    """Return whether the value of a standard key has no meaning."""
    return (
        _standard(case, setting)
        and setting.value is not None
        and _meaning(case, setting) is None
        and not (setting.key in _NUMBERS and _negative(setting))
    )


def unreadable_number(case: Case, setting: Setting) -> bool:
    """Return whether the value of a numeric key is not a number, or not a sensible one."""
    below = setting.key == BUFFER_SIZE and _negative(setting)
    return setting.key in _NUMBERS and (unreadable(case, setting) or below)


def unusual(case: Case, setting: Setting) -> bool:
    """Return whether a filesystem might interpret the value in its own way."""
    return unreadable(case, setting) or setting.key in case.own_keys or padded(case, setting)


def padded(case: Case, setting: Setting) -> bool:
    """Return whether a number has white space around it."""
    text = setting.value
    return (
        setting.key in _NUMBERS
        and isinstance(text, str)
        and text != text.strip()
        and _meaning(case, setting) is not None
    )


def _negative(setting: Setting) -> bool:
    value = setting.value
    if isinstance(value, str):
        text = value.strip()
        digits = text[1:]
        return text[:1] == "-" and digits.isdecimal() and text.isascii() and digits.strip("0") != ""
    return isinstance(value, int | float) and not isinstance(value, bool) and value <= -1


def negative_of(*keys: str) -> SettingTest:
    """Return a test: one of these keys has a negative number."""
    return lambda case, setting: setting.key in keys and _negative(setting)


def is_split(case: Case, setting: Setting) -> bool:
    """Return whether the setting sets the start or end of a split."""
    return setting.key in (SPLIT_START, SPLIT_END) and _meaning(case, setting) is not None


def ends_within(case: Case, setting: Setting) -> bool:
    """Return whether the split ends within the file."""
    end = _meaning(case, setting) if setting.key == SPLIT_END else None
    return isinstance(end, int) and end < case.length


def policies(kind: str) -> SettingTest:
    """Return a test of the read policies.

    `kind` is "list", "unknown", "known", or the policy that the value must mean.
    """

    def applies(case: Case, setting: Setting) -> bool:
        if setting.key != READ_POLICY or setting.value is None:
            return False
        meaning, is_list = _meaning(case, setting), "," in str(setting.value)
        if kind == "list":
            return is_list and meaning is not None
        if kind == "unknown":
            return meaning is None
        return meaning is not None and kind in ("known", meaning)

    return applies


def of(key: str) -> SettingTest:
    """Return a test: the key is this one."""
    return lambda case, setting: setting.key == key


def by(method: str) -> SettingTest:
    """Return a test: the method is this one."""
    return lambda case, setting: setting.method == method


_SET, _BUILD, _GET, _READ = "set", "build", "get", "read"
_OPEN = frozenset({_SET, _BUILD, _GET})
_ANY = _OPEN | {_READ}
#: A clause about streams of one builder, and the clause about any two streams of a file: while
#: the latter is violated, the former is not judged.
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
    """A failure of a program: the stage, the kind of outcome, and the aspect that was wrong.

    It also records whether the program succeeds with `opt` and `must` exchanged. `op` is the name
    of the failing call.
    """

    stage: str
    kind: Kind
    aspect: str = ""
    exchanged: bool = False
    op: str = ""

    @property
    def ended(self) -> bool:
        """True if a read found the end of the file, or fewer bytes, where there should be more."""
        return self.stage == _READ and (self.aspect == "end" or self.kind is Kind.EOF)


class Claim(NamedTuple):
    """A clause that applies to a case, and the faults that violate it."""

    clause: str
    applies: CaseTest
    broken: Callable[[Case, Fault], bool]


class OptionClaim(NamedTuple):
    """A claim that applies to each setting of a standard or another key."""

    clause: str
    applies: SettingTest
    broken: Callable[[Case, Fault], bool]


def charge(case: Case, fault: Fault) -> str:
    """Return the clause that a fault violates."""
    for claim in CLAIMS:
        if claim.applies(case) and claim.broken(case, fault):
            return claim.clause
    for setting in reversed(settings(case)):
        for option in OPTION_CLAIMS:
            if option.applies(case, setting) and option.broken(case, fault):
                return option.clause
    return "open.build-future"


def speaks_for(case: Case) -> Iterator[str]:
    """Yield the clauses that a case exercises if it succeeds."""
    yield from (claim.clause for claim in CLAIMS if claim.applies(case))
    if case.readable and not case.resolution.refusals:
        yield "open.build-future"
        for setting in settings(case):
            yield from (o.clause for o in OPTION_CLAIMS if o.applies(case, setting))


def exchanged(calls: tuple[BuilderCall, ...]) -> tuple[BuilderCall, ...]:
    """Return the calls with `opt` and `must` exchanged."""
    return tuple((_exchange(name), *args) for name, *args in calls)


def _exchange(name: str) -> str:
    kind, _, suffix = name.partition("_")
    prefix = {"opt": "must", "must": "opt"}.get(kind, kind)
    return f"{prefix}_{suffix}" if suffix else prefix


# Failures of a case ---------------------------------------------------------------------------


def _at(*stages: str) -> Callable[[Case, Fault], bool]:
    return lambda case, fault: fault.stage in stages


def _at_any(case: Case, fault: Fault) -> bool:
    return fault.stage in _ANY


def _never(case: Case, fault: Fault) -> bool:
    return False  # the model names this clause


def _unsupported(case: Case, fault: Fault) -> bool:
    return fault.kind is Kind.UNSUPPORTED and fault.stage in (_BUILD, _GET)


def _only_one_way(*stages: str) -> Callable[[Case, Fault], bool]:
    return lambda case, fault: fault.exchanged and fault.stage in stages


def _early_end(case: Case, fault: Fault) -> bool:
    return fault.ended


def _refused_read(case: Case, fault: Fault) -> bool:
    """Return whether a read raised, but not because it found the end of the file."""
    return fault.stage == _READ and fault.kind is not Kind.RETURNED and not fault.ended


def _not_vectored(case: Case, fault: Fault) -> bool:
    return fault.stage == _READ and fault.op != "read_vectored"


_REFUSED = _at(_BUILD, _GET)
CLAIMS = (
    Claim("open.option-methods", calls_by_form, _at(_SET)),
    Claim("open.last-wins", set_twice, _at(_BUILD, _GET, _READ)),
    Claim("open.must-unsupported", refused(Kind.UNSUPPORTED, False), _REFUSED),
    Claim("open.std-must-unrecognised", refused(Kind.ILLEGAL_ARGUMENT, True), _REFUSED),
    Claim("open.must-unknown", refused(Kind.ILLEGAL_ARGUMENT, False), _REFUSED),
    Claim("open.build-checks-options", lambda c: bool(c.resolution.refusals), _at_any),
    Claim("open.option-null", lambda c: bool(c.resolution.rejected_calls), _never),
    Claim("open.build-missing", scene("missing"), _never),
    Claim("open.build-directory", scene("directory"), _never),
    Claim("open.permission-delayed", scene("unreadable"), _never),
    Claim("open.foreign-path", scene("foreign"), _never),
    Claim("open.get-ioerror", scene("missing", "directory", "unreadable"), _never),
    Claim("open.read-fails", scene("missing", "directory", "unreadable"), _never),
    Claim("open.failure-stage", scene("missing", "directory", "unreadable", "foreign"), _never),
    Claim("open.build-twice", lambda c: c.streams > 1 and opens(c), _at_any),
    Claim("open.deferred-state", scene("late"), _at_any),
    Claim("open.status-name-when", lambda c: c.misnamed and opens(c), _at(_SET)),
    Claim("open.status-name-used", misnamed_otherwise, _at(_READ)),
    *(Claim(clause, has_status(kind), _at_any) for kind, clause in _BY_STATUS.items()),
    Claim("open.opt-same-validation", any_of(unusual), _only_one_way(*_ANY)),
    Claim("open.std-must-ok", any_of(is_standard(True)), _only_one_way(_READ)),
    Claim("open.number-default", any_of(padded), _at_any),
    Claim("open.split-reversed", reversed_split, _at(*_OPEN)),
    Claim("open.std-mixed", mixed, _REFUSED),
    Claim("open.length-over-split", length_and_split, _early_end),
    Claim("open.split-past-end", any_of(ends_within), _refused_read),
    Claim("open.split-hint", any_of(is_split), _at(_READ)),
    Claim("open.length-overstated", declared_longer, _at_any),
    Claim("open.length-longer-file", declared_shorter, _REFUSED),
    Claim("open.length-minimum", declared, _early_end),
    Claim("open.length-beyond", declared_shorter, _at(_READ)),
)

OPTION_CLAIMS = (
    OptionClaim("open.buffer-size-method", by("buffer_size"), _at_any),
    OptionClaim("open.std-opt-unrecognised", unknown(PREFIX), _at_any),
    OptionClaim("open.opt-foreign", foreign, _at_any),
    OptionClaim("open.opt-unknown", unknown(None), _at_any),
    OptionClaim("open.std-opt-unsupported", is_standard(False), _unsupported),
    OptionClaim("open.std-must-unsupported", is_standard(True), _unsupported),
    OptionClaim("open.std-recognised", is_standard(True), _only_one_way(_BUILD)),
    OptionClaim("open.std-must-ok", is_standard(True), _only_one_way(_GET)),
    OptionClaim("open.length-negative", negative_of(LENGTH), _at_any),
    OptionClaim("open.split-negative", negative_of(SPLIT_START, SPLIT_END), _at_any),
    OptionClaim("open.number-default", unreadable_number, _at_any),
    OptionClaim("open.policy-list", policies("list"), _REFUSED),
    OptionClaim("open.policy-unknown", policies("unknown"), _at_any),
    OptionClaim("open.policy-vector", policies("vector"), _not_vectored),
    OptionClaim("open.policy-names", policies("known"), _REFUSED),
    OptionClaim("open.policy-data", policies("known"), _at(_READ)),
    OptionClaim("open.footer-hint", of(FOOTER_CACHE), _at_any),
    OptionClaim("open.std-recognised", is_standard(None), _at_any),
)

#: Every clause that this module or the stages' judges can name.
CLAUSES = (
    frozenset({"open.build-future"})
    | {claim.clause for claim in CLAIMS}
    | {claim.clause for claim in OPTION_CLAIMS}
)
