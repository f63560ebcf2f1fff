"""Programs that open unusual paths: paths without a file, and files with unusual names."""

from __future__ import annotations

from fscontract.contract.program.opened_path import LONGEST_NAME, PATHS, OpenedPath
from fscontract.contract.program.program import Program, Step

#: Names of files: white space, characters of URLs, of patterns, of shells, of other scripts and
#: outside of 16 bits, in two forms of composition; names like those of hidden files and options;
#: and long ones, of one and of several bytes for each character.
NAMES = (
    "two  spaces and one at the end ",
    "per%20cent%2F%zz",
    "a#b?c=d&e+f;g,h@i!j",
    "[a]{b}(c)~^$`'",
    "d\u00e9j\u00e0-vu",
    "de\u0301ja\u0300-vu",
    "\u6587\u4ef6-\u0444\u0430\u0439\u043b-\U0001f5c2",
    ".hidden..",
    "-option",
    "tab\tinside",
    "n" * LONGEST_NAME,
    "\u00e9" * (LONGEST_NAME // 2),
)
#: The names for a target whose files take round trips: the same characters in fewer names.
_REMOTE_NAMES = ("a b%20c#d?e&f+g[h]~d\u00e9\u6587\U0001f5c2", "n" * LONGEST_NAME)
_LENGTH = 5
_READS = (Step("read_byte"), Step("read_into", (8, 0, 8)), Step("py_read", (2,)))


def programs(operations: frozenset[str], remote: bool, fixed: bool) -> list[Program]:
    """Return the programs; a target with one fixed file has no other names."""
    kinds = [kind for kind in PATHS if kind != "named"]
    made = [Program(_LENGTH, (), at=OpenedPath(kind)) for kind in kinds]
    reads = [step for step in _READS if step.op in operations]
    if fixed or not reads:
        return made
    names = _REMOTE_NAMES if remote else NAMES
    return made + [Program(_LENGTH, tuple(reads), at=OpenedPath("named", n)) for n in names]
