"""Unusual paths for a plain `open`, as data: what is at the path, and the name of a file."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

from fscontract.contract.program.arguments import ProgramError

#: What may be at a path: nothing; a directory with files, and one without; nothing, below a file;
#: no path, but an empty text; a file without read permission; and a file with an unusual name.
PATHS: dict[str, str] = {
    "missing": "a missing path",
    "directory": "a directory",
    "empty-directory": "an empty directory",
    "below-file": "a path below a file",
    "empty-path": "an empty path",
    "unreadable": "a file without read permission",
    "named": "a file with this name",
}
#: Characters that a name of a run never has: they separate elements, or have a meaning to Windows.
_FORBIDDEN = frozenset('/\\:\0<>"|*\r\n')
#: The longest name, in bytes of UTF-8.
LONGEST_NAME = 255


@dataclass(frozen=True)
class OpenedPath:
    """The path that a program opens: one of the kinds in PATHS, and the name of a "named" file."""

    kind: str
    name: str = ""

    def __str__(self) -> str:
        if self.kind != "named":
            return PATHS[self.kind]
        beside = f" beside {self.neighbour!r}" if self.neighbour else ""
        return f"a file named {self.name!r}{beside}"

    @property
    def is_file(self) -> bool:
        """True if a readable file is at the path."""
        return self.kind == "named"

    @property
    def neighbour(self) -> str:
        """The name of another file, for which a filesystem that changes names takes this one.

        It is the name without white space around it, with decoded spaces, or up to # or ?; "" if
        that is the same name. Windows itself removes white space at the end.
        """
        changed = self.name.replace("%20", " "), self.name.strip(), re.split("[#?]", self.name)[0]
        others = (name for name in changed if name not in ("", self.name))
        return "" if os.name == "nt" else next(others, "")

    def to_json(self) -> dict[str, str]:
        """Return the path as a JSON object."""
        return {"kind": self.kind, "name": self.name} if self.name else {"kind": self.kind}

    @classmethod
    def from_json(cls, data: Any, where: str = "at") -> OpenedPath:
        """Parse a path; ProgramError names the place and what is allowed there."""
        if not isinstance(data, dict) or data.get("kind") not in PATHS:
            raise ProgramError(f"{where}: kind must be {' or '.join(PATHS)}")
        kind, name = data["kind"], data.get("name", "")
        if (kind == "named") != (name != ""):
            raise ProgramError(f"{where}: name is required with the kind 'named', and only there")
        if not isinstance(name, str) or not _is_name(name):
            raise ProgramError(
                f"{where}: invalid name {str(name)[:40]!r}; expected up to {LONGEST_NAME} bytes of "
                "one path element, without / and characters that Windows forbids"
            )
        return cls(kind, name)


def _is_name(name: str) -> bool:
    if name in (".", "..") or _FORBIDDEN & set(name):
        return False
    try:
        return len(name.encode()) <= LONGEST_NAME
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
