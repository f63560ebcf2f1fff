"""What is new since a baseline, as lines of text and as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from fscontract.contract.suite.baseline import Change, Comparison, Difference
from fscontract.contract.suite.report.markdown import cell, table_lines
from fscontract.contract.suite.report.text import plural, printable

#: What is listed one by one; what stands as it did is only counted.
_LISTED = (Change.NEW, Change.VANISHED, Change.UNEXERCISED, Change.FIXED)
#: What is counted where there is none, too.
_ALWAYS = (Change.NEW, Change.VANISHED, Change.FIXED)


def as_lines(name: str, comparisons: Sequence[Comparison]) -> Iterator[str]:
    """The differences from the baseline of this name, and how many there are."""
    yield printable(f"baseline {name}")
    width = max((len(c) for c in _LISTED if any(one.of(c) for one in comparisons)), default=0)
    for comparison in comparisons:
        target = comparison.target
        for remark in comparison.remarks:
            yield printable(f"  {target}: {remark}")
        for change in _LISTED:
            for found in comparison.of(change):
                yield printable(f"  {change.value:{width}}  {target}: {_sentence(found)}")
    yield f"  {tally(comparisons)}"


def as_markdown(name: str, comparisons: Sequence[Comparison]) -> str:
    """A section for a job's summary; ends with a newline."""
    rows = [["Change", "Target", "Clause", "Now", "In the baseline"]]
    for comparison in comparisons:
        for change in _LISTED:
            rows += [
                [change.value, comparison.target, found.clause, found.now, found.before]
                for found in comparison.of(change)
            ]
    lines = [f"## Beside {cell(name)}", "", f"**{tally(comparisons)}**", ""]
    if len(rows) > 1:
        lines += table_lines(rows)
    return "".join(f"{line}\n" for line in lines)


def tally(comparisons: Sequence[Comparison]) -> str:
    """How many clauses became what, such as `1 new, 0 vanished, 2 fixed, 3 fail as before`."""
    count = Counter(d.change for c in comparisons for d in c.differences)
    shown = [change for change in _LISTED if count[change] or change in _ALWAYS]
    parts = [f"{count[change]} {change.value}" for change in shown]
    standing = count[Change.STANDING]
    verb = "fails" if standing == 1 else "fail"
    return ", ".join([*parts, f"{plural(standing, 'clause')} {verb} as before"])


def _sentence(found: Difference) -> str:
    text = f"{found.clause}: {found.now} ({found.before})"
    return " ".join(text.split())
