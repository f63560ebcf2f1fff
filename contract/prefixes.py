"""Names of the directories that runs make, which tell when, so that leftovers can be removed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from secrets import token_hex

_START = "fscontract-"
_FORM = "%Y%m%dT%H%M%SZ"
_NAME = re.compile(r"fscontract-(?P<time>\d{8}T\d{6}Z)-[0-9a-z_]{8}(?:-[0-9a-z_]{8})?")
#: One, in the tasks of a run that removes what they leave.
_marks: list[str] = []


def new_name(now: datetime | None = None) -> str:
    """A name that nobody else has, such as `fscontract-20261121T203400Z-ab12cd34`."""
    return "-".join([f"{timed_start(now)}{token_hex(4)}", *_marks])


@contextmanager
def marked(mark: str) -> Iterator[None]:
    """Have new names end with a mark of 8 letters and digits, by which a run knows its tasks'."""
    _marks[:] = [mark]
    try:
        yield
    finally:
        _marks.clear()


def has_mark(name: str, mark: str) -> bool:
    """Whether the name was made in a task of the run with this mark."""
    return made_at(name) is not None and name.endswith(f"-{mark}")


def timed_start(now: datetime | None = None) -> str:
    """The beginning of such a name, up to what is random."""
    return f"{_START}{(now or datetime.now(timezone.utc)):{_FORM}}-"


def made_at(name: str) -> datetime | None:
    """When the directory of this name was made; None if the name does not tell."""
    match = _NAME.fullmatch(name)
    try:
        found = match and datetime.strptime(match["time"], _FORM)
    except ValueError:  # no such day
        return None
    return found.replace(tzinfo=timezone.utc) if found else None


def is_ours(name: str) -> bool:
    """Whether the name may be one that a run gave."""
    return name.startswith(_START)
