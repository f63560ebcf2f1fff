"""`fscontract explain`: one clause or one feature in full."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from fscontract.contract.clauses import Clause
    from fscontract.contract.profile import Feature

_WIDTH = 96


@click.command(short_help="Explain a clause or a feature.")
@click.argument("name", metavar="CLAUSE|FEATURE")
def explain(name: str) -> None:
    """Explain a clause, or a feature and the clauses that depend on it."""
    from fscontract.contract.clauses import clauses, near_misses
    from fscontract.contract.profile import features

    if name in clauses():
        lines = _clause(clauses()[name])
    elif name in features():
        lines = _feature(features()[name])
    else:
        hint = near_misses(name, [*clauses(), *features()]) or "; see 'fscontract list'"
        raise click.UsageError(f"no clause or feature {name!r}{hint}")
    for line in lines:
        click.echo(line)


def _clause(clause: Clause) -> Iterator[str]:
    from fscontract.contract.suite.report.text import place

    yield f"{clause.id}  {clause.level.value}  {place(clause)}"
    yield from (f"  {line}" for line in wrap(clause.statement, _WIDTH))
    yield from _part("reading", clause.reading)
    yield from _part("because", clause.because)
    yield from _part("needs", ", ".join(_need(n) for n in clause.needs))
    yield from _part("origin", clause.origin)
    yield from _part("refs", ", ".join(clause.refs))
    yield from _part("untestable", clause.untestable)
    yield from _part("checks", ", ".join(clause.checks))
    for example in clause.examples:
        expected = " or ".join(_expectation(e) for e in example.expect)
        yield from _part("example", f"{example.program} -> {expected}")


def _feature(feature: Feature) -> Iterator[str]:
    from fscontract.contract.clauses import clauses

    users = {
        sign: [c.id for c in clauses().values() if sign + feature.name in c.needs]
        for sign in ("", "!")
    }
    yield f"{feature.name}  feature  {'declared' if feature.default else 'not declared'} by default"
    yield from (f"  {line}" for line in wrap(feature.sentence, _WIDTH))
    yield from _part("Hadoop", feature.hadoop)
    yield from _part("with it", " ".join(users[""]))
    yield from _part("without", " ".join(users["!"]))


def _need(need: str) -> str:
    return f"not {need[1:]}" if need.startswith("!") else need


def _expectation(expect: dict[str, object]) -> str:
    return ", ".join(f"{key} {value}" for key, value in expect.items())


def _part(label: str, text: str) -> Iterator[str]:
    lines = wrap(text, _WIDTH - 12, break_on_hyphens=False)
    for number, line in enumerate(lines):
        yield f"  {label if number == 0 else '':11} {line}"
