"""The table of docs/findings.md of what servers answer differently.

python -m tests.s3.table
"""

from __future__ import annotations

from servers.s3.servers import NAMES
from tests.s3.facts import FACTS


def rendered() -> str:
    """The facts in which servers differ, as Markdown."""
    rows = [("request", "usual", *NAMES), ("---",) * (2 + len(NAMES))]
    rows += [
        (f"`{fact}`", fact.usual, *(fact.others.get(name, "") for name in NAMES))
        for fact in FACTS
        if fact.others
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


if __name__ == "__main__":
    print(rendered(), end="")
