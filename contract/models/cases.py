"""What an open through a builder is about: the questions that the table of claims asks of it.

Each function is, or makes, a test of a case, or of one of its settings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from fscontract.contract.models.openfile import read_value
from fscontract.contract.models.opening import Case
from fscontract.contract.openfile_options import (
    BUFFER_SIZE,
    LENGTH,
    PREFIX,
    READ_POLICY,
    SPLIT_END,
    SPLIT_START,
)
from fscontract.contract.outcome import Kind

_NUMBERS = frozenset({BUFFER_SIZE, LENGTH, SPLIT_START, SPLIT_END})


class Setting(NamedTuple):
    """One call that sets an option."""

    method: str
    key: Any
    value: Any

    @property
    def mandatory(self) -> bool:
        """Whether it is one of the `must` methods."""
        return self.method.startswith("must")


CaseTest: TypeAlias = Callable[[Case], bool]
SettingTest: TypeAlias = Callable[[Case, Setting], bool]


def settings(case: Case) -> list[Setting]:
    """The calls that set an option, in order; a buffer size under its standard key."""
    found = []
    for method, *args in case.opening.calls:
        if method == "buffer_size":
            found.append(Setting(method, BUFFER_SIZE, args[0]))
        elif method != "with_file_status":
            found.append(Setting(method, *args))
    return found


# What a case is -------------------------------------------------------------------------------


def scene(*scenes: str) -> CaseTest:
    """Whether the scene is one of these, and the builder refuses nothing."""
    return lambda case: case.opening.scene in scenes and not case.resolution.refusals


def refused(kind: Kind, standard: bool) -> CaseTest:
    """Whether a key is refused in this way; a standard one or not."""

    def applies(case: Case) -> bool:
        return any(
            r.kind is kind and str(r.key).startswith(PREFIX) is standard
            for r in case.resolution.refusals
        )

    return applies


def opens(case: Case) -> bool:
    """Whether there is a file, and the builder refuses nothing."""
    return case.readable and not case.resolution.refusals


def set_twice(case: Case) -> bool:
    """Whether a key is set more than once."""
    keys = [setting.key for setting in settings(case)]
    return len(set(keys)) < len(keys)


def mixed(case: Case) -> bool:
    """Whether some keys are set as optional and others as mandatory."""
    ways = {setting.key: setting.mandatory for setting in settings(case)}
    return opens(case) and len(set(ways.values())) == 2


def calls_by_form(case: Case) -> bool:
    """Whether the last call is one of those that have a key."""
    found = settings(case)
    return bool(found) and found[-1].method != "buffer_size" and opens(case)


def any_of(test: SettingTest) -> CaseTest:
    """Whether a setting that counts is of this kind."""
    return lambda case: opens(case) and any(test(case, s) for s in settings(case))


def has_status(kind: str) -> CaseTest:
    """Whether the last status is of this kind."""
    return lambda case: case.status == kind and opens(case)


def declared_shorter(case: Case) -> bool:
    """Whether the file is said to be shorter than it is."""
    return case.declared is not None and case.declared < case.length and opens(case)


def declared(case: Case) -> bool:
    """Whether the file is said to have some length."""
    return case.declared is not None and opens(case)


def declared_longer(case: Case) -> bool:
    """Whether the file is said to be longer than it is."""
    return case.declared is not None and case.declared > case.length and opens(case)


def status_and_length(case: Case) -> bool:
    """Whether both a status and the option tell a length."""
    optional = any(s.key == LENGTH for s in settings(case))
    return optional and case.status not in ("", "none") and not case.misnamed and opens(case)


def misnamed_otherwise(case: Case) -> bool:
    """Whether the status of another file says another length than this one has."""
    said = [args[1] for name, *args in case.opening.calls if name == "with_file_status"]
    return case.misnamed and said[-1] not in (None, case.length) and opens(case)


def length_and_split(case: Case) -> bool:
    """Whether the split ends before the length that is declared."""
    end = case.resolution.split_end
    return case.declared is not None and isinstance(end, int) and end < case.declared


def reversed_split(case: Case) -> bool:
    """Whether the split starts after its end."""
    values = {s.key: read_value(s.method, s.value, s.key, case.table) for s in settings(case)}
    start, end = values.get(SPLIT_START), values.get(SPLIT_END)
    return isinstance(start, int) and isinstance(end, int) and start > end and opens(case)


# What a setting is ----------------------------------------------------------------------------


def _known(case: Case, key: Any) -> bool:
    return key in case.table.standard_keys or key in case.own_keys


def _standard(case: Case, setting: Setting) -> bool:
    return setting.key in case.table.standard_keys


def _meaning(case: Case, setting: Setting) -> Any:
    return read_value(setting.method, setting.value, setting.key, case.table)


def unknown(prefix: str | None) -> SettingTest:
    """Whether an optional key is known to nobody, and starts with the prefix if there is one."""

    def applies(case: Case, setting: Setting) -> bool:
        key = setting.key
        if not isinstance(key, str) or _known(case, key) or setting.mandatory:
            return False
        if prefix is not None:
            return key.startswith(prefix)
        return not key.startswith(PREFIX) and key not in case.table.options

    return applies


def foreign(case: Case, setting: Setting) -> bool:
    """Whether an optional key is another store's."""
    key = setting.key
    return key in case.table.options and not _known(case, key) and not setting.mandatory


def is_standard(mandatory: bool | None) -> SettingTest:
    """Whether the key is standard, and mandatory or optional if that is asked."""

    def applies(case: Case, setting: Setting) -> bool:
        return _standard(case, setting) and mandatory in (None, setting.mandatory)

    return applies


def unreadable(case: Case, setting: Setting) -> bool:
    """Whether the value of a standard key means nothing."""
    return (
        _standard(case, setting)
        and setting.value is not None
        and _meaning(case, setting) is None
        and not (setting.key in _NUMBERS and _negative(setting))
    )


def unreadable_number(case: Case, setting: Setting) -> bool:
    """Whether a value that should be a number is none, or none that makes sense."""
    below = setting.key == BUFFER_SIZE and _negative(setting)
    return setting.key in _NUMBERS and (unreadable(case, setting) or below)


def unusual(case: Case, setting: Setting) -> bool:
    """A value that a filesystem might read in its own way."""
    return unreadable(case, setting) or setting.key in case.own_keys or padded(case, setting)


def padded(case: Case, setting: Setting) -> bool:
    """Whether a number has white space around it."""
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
    """Whether one of these keys has a negative number."""
    return lambda case, setting: setting.key in keys and _negative(setting)


def is_split(case: Case, setting: Setting) -> bool:
    """Whether a split's start or end is set."""
    return setting.key in (SPLIT_START, SPLIT_END) and _meaning(case, setting) is not None


def ends_within(case: Case, setting: Setting) -> bool:
    """Whether the split ends within the file."""
    end = _meaning(case, setting) if setting.key == SPLIT_END else None
    return isinstance(end, int) and end < case.length


def policies(kind: str) -> SettingTest:
    """Whether the policies are a "list", "unknown", "known", or mean this one."""

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
    """Whether the key is this one."""
    return lambda case, setting: setting.key == key


def by(method: str) -> SettingTest:
    """Whether the method is this one."""
    return lambda case, setting: setting.method == method
