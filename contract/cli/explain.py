"""`fscontract explain`, `list` and `features`: show the specification."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from fscontract.contract.cli import completion

if TYPE_CHECKING:
    from fscontract.contract.api.openfile_options import Option, Policy
    from fscontract.contract.spec.clauses import Clause, Retired
    from fscontract.contract.spec.profiles import Feature

#: Columns of text without a terminal, which is also the maximum, and the minimum.
_WIDTH, _MIN_WIDTH = 96, 38


@click.command(short_help="Explain a clause, a feature or an option.")
@click.argument(
    "name", metavar="CLAUSE|GROUP|FEATURE|OPTION|POLICY", shell_complete=completion.explained
)
def explain(name: str) -> None:
    """Explain a clause, a feature and the clauses that depend on it, or an option of open_file.

    A group is what clauses begin with, such as seek, and lists them. An option is a key such as
    fs.option.openfile.length; the read policies, such as parquet, can be explained too.
    """
    from fscontract.contract.api.openfile_options import option_table
    from fscontract.contract.spec.clauses import clauses, near_misses, retired
    from fscontract.contract.spec.profiles import features

    table = option_table()
    if name in clauses():
        lines = _clause(clauses()[name])
    elif any(clause.startswith(f"{name}.") for clause in clauses()):
        lines = _group(name)
    elif name in retired():
        lines = _retired(retired()[name])
    elif name in features():
        lines = _feature(features()[name])
    elif name in table.options:
        lines = _option(table.options[name])
    elif name in table.policies:
        lines = _policy(table.policies[name])
    else:
        known = [*clauses(), *features(), *table.options, *table.policies]
        hint = near_misses(name, known) or "; see 'fscontract list'"
        raise click.UsageError(f"unknown clause, feature, option or policy {name!r}{hint}")
    plain = bool(os.environ.get("NO_COLOR"))
    for line in lines:  # without a terminal, click removes colours
        click.echo(click.unstyle(line) if plain else line)


def _group(name: str) -> Iterator[str]:
    from fscontract.contract.spec.clauses import select

    members = select([name])
    yield _head(name, f"{len(members)} clauses")
    for clause in members:
        level = clause.level.value if clause.testable else f"{clause.level}, untestable"
        yield f"  {clause.id}  {level}"
        yield from (f"    {line}" for line in wrap(clause.statement, _width() - 2))


def _head(name: str, rest: str) -> str:
    return f"{click.style(name, bold=True)}  {rest}"


def _width() -> int:
    """Return the columns for text: those of the terminal, up to a readable maximum."""
    if not sys.stdout.isatty():
        return _WIDTH
    return max(_MIN_WIDTH, min(shutil.get_terminal_size().columns - 2, _WIDTH))


def _clause(clause: Clause) -> Iterator[str]:
    from fscontract.contract.spec.clauses import CONSEQUENCES, FAULTS, SERVER_FAULTS

    yield _head(clause.id, f"{clause.level.value}  {clause.citation}")
    yield from (f"  {line}" for line in wrap(clause.statement, _width()))
    yield from _part("reading", clause.reading)
    yield from _part("hadoop", clause.hadoop_test)
    yield from _part("because", clause.because)
    for word, text in clause.ways.items():
        yield from _part("if it fails", f"{word}: {text}")
    if clause.testable:
        yield from _part("breaks", f"{clause.consequence}: {CONSEQUENCES[clause.consequence]}")
    yield from _part("needs", ", ".join(_need(n) for n in clause.needs))
    yield from _part("origin", clause.origin)
    yield from _part("refs", ", ".join(clause.refs))
    yield from _part("untestable", clause.untestable)
    yield from _part("checks", ", ".join(clause.checks))
    yield from _cost(clause)
    for example in clause.examples:
        expected = " or ".join(_expectation(e) for e in example.expect)
        yield from _part("example", f"{example.program} -> {expected}")
    if clause.testable:
        faults = {FAULTS: " --faults quick", SERVER_FAULTS: " --server-faults"}.get(
            clause.document, ""
        )
        yield from _part("check", f"fscontract check TARGET --clauses {clause.id}{faults}")


def _retired(old: Retired) -> Iterator[str]:
    yield _head(old.id, f"no clause since {old.since}")
    yield from _part("because", old.reason)
    yield from _part("instead", ", ".join(old.instead))


def _cost(clause: Clause) -> Iterator[str]:
    from fscontract.contract.runner.cost_checks import cost_program

    cost = clause.cost
    if cost is None:
        return
    amount = "exactly" if cost.exact else "at most"
    budget = ", ".join(f"{policy} {number}" for policy, number in cost.budget.items())
    yield from _part("cost", f"{cost.meter}, {amount}: {budget}")
    program = cost_program(cost, None)
    first = "" if not cost.before else f", after {', '.join(map(str, cost.before))}"
    before = "from open_file on" if cost.before is None else f"on the opened stream{first}"
    calls = str(program) if len(program.steps) <= 8 else f"{len(program.steps)} calls"
    yield from _part("measured", f"{before}, in {calls}")


def _feature(feature: Feature) -> Iterator[str]:
    from fscontract.contract.spec.clauses import clauses

    users = {
        sign: [c.id for c in clauses().values() if sign + feature.name in c.needs]
        for sign in ("", "!")
    }
    declared = {True: "declared", False: "not declared", None: "observed"}[feature.default]
    yield _head(feature.name, f"feature  {declared} by default")
    yield from (f"  {line}" for line in wrap(feature.sentence, _width()))
    yield from _part("Hadoop", feature.hadoop)
    yield from _part("with it", " ".join(users[""]))
    yield from _part("without", " ".join(users["!"]))


def _option(option: Option) -> Iterator[str]:
    from fscontract.contract.api.openfile_options import option_table

    value_type = option_table().types[option.type]
    store = "standard option" if option.standard else f"option of {option.store}"
    yield _head(option.key, f"{store} of open_file{_since(option.since)}")
    yield from (f"  {line}" for line in wrap(option.meaning, _width()))
    yield from _part("type", f"{option.type}, in {option.unit}" if option.unit else option.type)
    yield from _part("values", f"{value_type.rule} {value_type.reading}".strip())
    yield from _part("below 0", "" if option.least is None else "unset")
    yield from _part("0", option.zero)
    yield from _part("unset", option.default)
    yield from _part("reading", option.reading)
    yield from _part("Hadoop", option.hadoop)


def _policy(policy: Policy) -> Iterator[str]:
    from fscontract.contract.api.openfile_options import READ_POLICY

    footer = {None: "no default", True: "by default", False: "not by default"}
    buffer = "as by default" if policy.buffer is None else f"{policy.buffer} bytes"
    yield _head(policy.name, f"read policy{_since(policy.since)}")
    yield from (f"  {line}" for line in wrap(policy.meaning, _width()))
    yield from _part("expects", ", ".join(f"{kind} reads" for kind in policy.expects))
    yield from _part("footer", f"cached: {footer[policy.footer_cache]}")
    yield from _part("local", f"read-ahead {buffer}, posix_fadvise {policy.advice}")
    yield from _part("set by", READ_POLICY)


def _since(release: str) -> str:
    return f", since Hadoop {release}" if release else ""


def _need(need: str) -> str:
    return f"not {need[1:]}" if need.startswith("!") else need


def _expectation(expect: dict[str, object]) -> str:
    return ", ".join(
        f"{key.replace('_', ' ')} {_value_text(value)}" for key, value in expect.items()
    )


def _value_text(value: object) -> str:
    if isinstance(value, list):
        return " or ".join(map(str, value))
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _part(label: str, text: str) -> Iterator[str]:
    lines = wrap(text, _width() - 12, break_on_hyphens=False)
    for number, line in enumerate(lines):
        name = click.style(f"{label:11}", fg="cyan") if number == 0 else " " * 11
        yield f"  {name} {line}"


@click.command("list", short_help="List clauses.")
@click.argument("patterns", metavar="[PATTERN]...", nargs=-1, shell_complete=completion.clauses)
@click.option("--needs", metavar="FEATURE", help="Only clauses that depend on this feature.")
@click.option("--untestable", is_flag=True, help="List untestable clauses, with reasons.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
@click.pass_context
def list_clauses(
    ctx: click.Context,
    /,
    patterns: tuple[str, ...],
    needs: str | None,
    untestable: bool,
    as_json: bool,
) -> None:
    """List clauses, all or those that match an id, a group, a document or a glob."""
    from fscontract.contract.spec.clauses import select

    if needs is not None:
        _require_feature(needs)
    chosen = [
        c
        for c in select(patterns)
        if c.testable is not untestable
        if needs is None or needs in {n.removeprefix("!") for n in c.needs}
    ]
    if as_json:
        import json

        click.echo(json.dumps([_plain(c) for c in chosen], indent=2, ensure_ascii=False))
    elif chosen:
        width = max(len(c.id) for c in chosen)
        for clause in chosen:
            about = clause.untestable if untestable else " ".join(clause.needs)
            line = f"{clause.id:{width}}  {clause.level.value:11}  {clause.section}"
            click.echo(f"{line}  [{about}]" if about else line)
    if not chosen:
        ctx.exit(5)


@click.command(short_help="List features that can be declared.")
def features() -> None:
    """List the features a profile or --features can declare, with Hadoop's option names."""
    from fscontract.contract.spec.profiles import features as known

    for feature in known().values():
        click.echo(feature.name + (f"  ({feature.hadoop})" if feature.hadoop else ""))
        click.echo(f"    {feature.sentence}")


def _require_feature(name: str) -> None:
    from fscontract.contract.spec.clauses import near_misses
    from fscontract.contract.spec.profiles import features as known

    if name not in known():
        raise click.UsageError(
            f"unknown feature {name!r}{near_misses(name, known())}; see 'fscontract features'"
        )


def _plain(clause: Clause) -> dict[str, Any]:
    return {
        "id": clause.id,
        "level": clause.level.value,
        "consequence": clause.consequence.value if clause.testable else None,
        "document": clause.document,
        "section": clause.section,
        "statement": clause.statement,
        "needs": list(clause.needs),
        "untestable": clause.untestable or None,
    }
