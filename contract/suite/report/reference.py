"""A document of clauses as a page of Markdown: docs/reference has one for each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from fscontract.contract.clauses import Clause, Document, Example, Level, Retired
from fscontract.contract.suite.costs import cost_program
from fscontract.contract.suite.report.text import plural

_MARKUP = re.compile(r"([\\`*_\[\]<>|#])")
#: Programs with more calls are told by their number.
_SHOWN = 8


def render(
    document: Document, clauses: Sequence[Clause], breaks: Mapping[str, Sequence[tuple[str, str]]]
) -> str:
    """The page of a document with its clauses, in their order, by section.

    `breaks` has for each clause the mutants that break it, each with what it does wrong.
    """
    lines = [f"# {document.title}", "", f"Written from: {_prose(document.source)}.", ""]
    lines += [_counts(document, clauses), "", *_contents(clauses), ""]
    for section, found in groupby(clauses, lambda clause: clause.section):
        lines += [f"## {_prose(section)}", ""]
        for clause in found:
            lines += [*_clause(clause, breaks.get(clause.id, ())), ""]
    return "\n".join(lines)


def index(
    documents: Iterable[tuple[Document, Sequence[Clause]]], old: Iterable[Retired] = ()
) -> str:
    """The page that leads to those of the documents, with the ids that are no clause's any more."""
    lines = [
        "# Reference",
        "",
        "Every clause, made from the documents in [specs](../../specs).",
        "",
    ]
    lines += ["| Document | Clauses | With checks | `--clauses` |", "|---|---:|---:|---|"]
    for document, found in documents:
        tested = sum(clause.testable for clause in found)
        link = f"[{_prose(document.title)}]({document.name}.md)"
        lines.append(f"| {link} | {len(found)} | {tested} | `{document.name}` |")
    names = [f"- {_prose(str(one))}" for one in old]
    if names:
        lines += ["", "## Ids of old", "", "Never used again, see [versions](../versioning.md)."]
        lines += ["", *names]
    return "\n".join([*lines, ""])


def _counts(document: Document, clauses: Sequence[Clause]) -> str:
    tested = sum(clause.testable for clause in clauses)
    levels = ", ".join(
        f"{number} {level.value}"
        for level in Level
        if (number := sum(clause.level is level for clause in clauses))
    )
    return (
        f"{plural(len(clauses), 'clause')} ({levels}), {tested} of them with checks: "
        f"`fscontract check TARGET --clauses {document.name}`. Made from "
        f"[specs/{document.name}.yaml](../../specs/{document.name}.yaml); the mutants are wrong on "
        "purpose, and the suite has to name that clause for each."
    )


def _contents(clauses: Sequence[Clause]) -> Iterator[str]:
    for section, found in groupby(clauses, lambda clause: clause.section):
        links = (f"[{clause.id}](#{_anchor(clause.id)})" for clause in found)
        yield f"- {_prose(section)}: {', '.join(links)}"


def _anchor(name: str) -> str:
    return name.replace(".", "")


def _clause(clause: Clause, broken_by: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield f"### {clause.id}"
    yield ""
    yield f"**{clause.level.value}** {_prose(clause.statement)}"
    yield ""
    facts = (
        ("Reading", _prose(clause.reading)),
        ("Because", _prose(clause.because)),
        ("Only for", ", ".join(map(_need, clause.needs))),
        ("From", _prose(clause.origin)),
        ("See", _prose(", ".join(clause.refs))),
        ("Not tested", _prose(clause.untestable)),
        ("Checked by", ", ".join(f"`{check}`" for check in clause.checks)),
        ("Costs", _cost(clause)),
    )
    yield from (f"- {label}: {text}" for label, text in facts if text)
    yield from (f"- Example: {_example(example)}" for example in clause.examples)
    yield from (f"- Mutant: `{name}`. {_prose(says)}" for name, says in broken_by)


def _need(need: str) -> str:
    return f"streams without `{need[1:]}`" if need.startswith("!") else f"`{need}`"


def _example(example: Example) -> str:
    expected = (
        ", ".join(f"{key} {_value(value)}" for key, value in expect.items())
        for expect in example.expect
    )
    return f"`{example.program}` {' or '.join(map(_prose, expected))}"


def _value(value: object) -> str:
    return " or ".join(map(str, value)) if isinstance(value, list) else str(value)


def _cost(clause: Clause) -> str:
    cost = clause.cost
    if cost is None:
        return ""
    budget = ", ".join(f"{number} with `{policy}`" for policy, number in cost.budget.items())
    program = cost_program(cost, None)
    calls = len(program.steps)
    shown = f"`{program}`" if calls <= _SHOWN else f"{calls} calls"
    return f"{cost.meter}, {'exactly' if cost.exact else 'at most'} {budget}, in {shown}"


def _prose(text: str) -> str:
    """Text of which nothing is taken for markup."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))
