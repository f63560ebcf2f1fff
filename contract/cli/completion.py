"""Shell completion: names of targets, clauses, features and profiles.

Errors are ignored, because the user is typing a line.
"""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem


def targets(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return named targets, otherwise files."""
    from importlib.metadata import entry_points

    groups = ("fscontract.targets", "fscontract.pipelines")
    names = sorted({name for group in groups for name in entry_points(group=group).names})
    items = [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return items or [CompletionItem(incomplete, type="file")]


def clauses(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return clauses and groups of clauses, also after a comma."""
    from fscontract.contract.spec.clauses import clauses as known

    before, comma, last = incomplete.rpartition(",")
    names = known()
    groups = dict.fromkeys(name.partition(".")[0] for name in names)
    fitting = _fitting([*groups, *names], last)
    helps = {name: names[name].statement for name in fitting if name in names}
    return [CompletionItem(f"{before}{comma}{n}", help=helps.get(n)) for n in fitting]


def explained(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return everything that `explain` accepts."""
    from fscontract.contract.api.openfile_options import option_table
    from fscontract.contract.spec.profiles import features as known

    table = option_table()
    others = _fitting([*known(), *table.options, *table.policies], incomplete)
    return [*clauses(ctx, param, incomplete), *map(CompletionItem, others)]


def features(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return features, also after a comma, and with ! for removed ones."""
    from fscontract.contract.spec.profiles import features as known

    before, comma, last = incomplete.rpartition(",")
    sign = "!" if last.startswith("!") else ""
    fitting = _fitting(known(), last.removeprefix("!"))
    return [CompletionItem(f"{before}{comma}{sign}{name}") for name in fitting]


def consequences(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return consequences, also after a comma."""
    from fscontract.contract.spec.clauses import CONSEQUENCES

    before, comma, last = incomplete.rpartition(",")
    return [
        CompletionItem(f"{before}{comma}{name}", help=meaning)
        for name, meaning in CONSEQUENCES.items()
        if name.startswith(last)
    ]


def profiles(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return profiles of this package, otherwise files."""
    from importlib.resources import files

    stems = (entry.name for entry in files("fscontract.specs").joinpath("profiles").iterdir())
    names = sorted(name.removesuffix(".yaml") for name in stems if name.endswith(".yaml"))
    items = [CompletionItem(name) for name in _fitting(names, incomplete)]
    return items or [CompletionItem(incomplete, type="file")]


def _fitting(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
