"""`fscontract list` and `fscontract features`: what there is to check and to declare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fscontract.contract.cli import completion

if TYPE_CHECKING:
    from fscontract.contract.spec.clauses import Clause


@click.command("list", short_help="List clauses.")
@click.argument("patterns", metavar="[PATTERN]...", nargs=-1, shell_complete=completion.clauses)
@click.option("--needs", metavar="FEATURE", help="Only clauses that depend on this feature.")
@click.option("--untestable", is_flag=True, help="The clauses no check judges, and why.")
@click.option("--json", "as_json", is_flag=True, help="As a JSON list.")
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
            f"no feature {name!r}{near_misses(name, known())}; see 'fscontract features'"
        )


def _plain(clause: Clause) -> dict[str, Any]:
    return {
        "id": clause.id,
        "level": clause.level.value,
        "document": clause.document,
        "section": clause.section,
        "statement": clause.statement,
        "needs": list(clause.needs),
        "untestable": clause.untestable or None,
    }
