"""`fscontract known`: keep the file of known failures."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fscontract.contract.cli import options, watched
from fscontract.contract.command_line import say, say_error
from fscontract.contract.runner.exit_codes import NOTHING, SET_UP
from fscontract.contract.text import plural

if TYPE_CHECKING:
    from fscontract.contract.runner.result import RunResult
    from fscontract.contract.runner.run_options import RunOptions
    from fscontract.contract.spec.clauses import Clause
    from fscontract.contract.spec.known_failures import Known

#: The maximum of runs to find all failures, and the distance of their seeds.
_MAX_RUNS, _SEED_STEP = 4, 7919


@click.command(short_help="Keep a file of known failures.")
@click.option("--write", "action", flag_value="write", help="Add current failures to FILE.")
@click.option("--prune", "action", flag_value="prune", help="Remove fixed failures from FILE.")
@click.argument("file_", metavar="FILE", type=click.Path(path_type=Path))
@click.argument("target", metavar="TARGET")
@click.option(
    "--reason", metavar="TEXT", help="The reason to accept the new entries (with --write)."
)
@options.run_options
@click.pass_context
def known(
    ctx: click.Context,
    /,
    action: str | None,
    file_: Path,
    target: str,
    reason: str | None,
    **values: Any,
) -> None:
    """Add the failures of TARGET to FILE, or remove fixed ones from it.

    Entries that stay keep their reasons. A rewritten FILE keeps the comment at its top only. The
    time limit of a run is 600 s at quick, too: a failure that is not found is not listed. So
    --write also runs with other seeds until one adds nothing, at most four times. A run that is out
    of time is the last one after 600 s. Clauses that no run had time for then have a run alone,
    because a check with another seed may reach them.
    """
    from fscontract.contract.runner import run_options
    from fscontract.contract.runner.time_budget import BUDGETS, TimeBudget
    from fscontract.contract.spec.known_failures import load_known

    _require(action, reason, target)
    run = options.collect(values)
    if run.budget is None and run.effort == "quick":
        run = replace(run, budget=BUDGETS["normal"])
    entries = load_known(file_) if action == "prune" or file_.exists() else ()
    clauses = run_options.selected(run, anything=True)
    total, time = 0, TimeBudget(BUDGETS["normal"])
    unreached = frozenset(clause.id for clause in clauses)
    for number in range(_MAX_RUNS):
        seeded = replace(run, seed=run.seed + number * _SEED_STEP)
        result = _checked(target, seeded, clauses, entries) if clauses else None
        if result is None or not result.clauses:
            say_error(options.NOTHING_SELECTED)
            ctx.exit(NOTHING)
        changed = _update(file_, result, reason)
        total += changed
        unreached &= _out_of_time(result)
        incomplete = _incomplete(result)
        is_last = not changed or incomplete or (result.cut_short and time.is_over)
        if is_last or action == "prune":
            break
        entries = load_known(file_)
    if action == "write" and unreached and not incomplete:
        alone = _reaching(target, run, unreached, load_known(file_))
        total += _update(file_, alone, reason)
        unreached &= _out_of_time(alone)
        incomplete = _incomplete(alone)
    if result is not None and result.cut_short:
        say(_cut_short(result, unreached if action == "write" else None), err=True)
    click.echo(f"{total} {'added' if action == 'write' else 'dropped'}")
    if incomplete:
        say_error(incomplete)
        ctx.exit(SET_UP)


def _require(action: str | None, reason: str | None, target: str) -> None:
    """Raise UsageError if arguments are missing, or do not fit each other."""
    if action is None:
        raise click.UsageError("specify --write or --prune")
    if action == "write" and not (reason or "").strip():
        raise click.UsageError("--write requires --reason TEXT, the reason to accept the failures")
    if action == "prune" and reason is not None:
        raise click.UsageError("--reason requires --write")
    if target.endswith((".yaml", ".yml")):
        raise click.UsageError(f"FILE comes before TARGET: known --{action} {target} TARGET")


def _reaching(
    target: str, run: RunOptions, ids: frozenset[str], entries: tuple[Known, ...]
) -> RunResult:
    """Return the result of a run for clauses that no other had time for: a check may reach them."""
    from fscontract.contract.runner import run_options

    alone = replace(run, clauses=tuple(sorted(ids)))
    return _checked(target, alone, run_options.selected(alone, anything=True), entries)


def _incomplete(result: RunResult) -> str:
    """Return that a run is incomplete, and why; "" if it is complete."""
    if result.exit_code_if_known != SET_UP:
        return ""
    return "; ".join(filter(None, ["the run is incomplete", result.incomplete, *result.warnings]))


def _out_of_time(result: RunResult) -> frozenset[str]:
    """Return the ids of the clauses that a run had no time for."""
    from fscontract.contract.runner.result import OUT_OF_TIME

    return frozenset(r.clause.id for r in result.clauses if r.reason == OUT_OF_TIME)


def _cut_short(result: RunResult, unreached: frozenset[str] | None) -> str:
    """Return what a run left out, and the clauses that no run reached, which a check may.

    They are None if a check shows the same.
    """
    from fscontract.contract.report.text import out_of_time

    if unreached is None:
        return out_of_time(result)
    named = f"; not reached: {', '.join(sorted(unreached))}" if unreached else ""
    return f"{out_of_time(result)}; others may fail in a check: increase --budget{named}"


def _update(file_: Path, result: RunResult, reason: str | None) -> int:
    """Add entries for this reason, or remove fixed ones; return how many. Raise KnownError."""
    from fscontract.contract.spec.known_failures import (
        KnownError,
        prune_known,
        together,
        write_known,
    )

    try:
        if reason is None:
            changed, word = prune_known(file_, result), "dropped"
        else:
            changed, word = write_known(file_, result, reason), "added"
    except OSError as error:
        raise KnownError(f"can't write {file_}: {error.strerror or error}") from error
    shown = together(changed)
    for entry, scenarios in shown:
        where = f" (in {plural(len(scenarios), 'scenario')})" if scenarios else ""
        say(f"{word}: {entry.clause}: {entry.signature}{where}")
    return len(shown)


def _checked(
    target: str, run: RunOptions, clauses: tuple[Clause, ...], entries: tuple[Known, ...]
) -> RunResult:
    """Return the result of a run, in a separate process as that of `check`; raise TargetError."""
    from fscontract.contract.check import InProcess
    from fscontract.contract.report.console import shown_on
    from fscontract.contract.runner import run_options

    if watched.by_default():
        from fscontract.contract.isolation.supervisor import Isolated
        from fscontract.contract.runner.timeouts import held_back

        with ExitStack() as stack:
            with held_back():
                isolated = Isolated(target, run, entries, forks=True)
                stack.callback(isolated.close)
            isolated.set_up()
            with shown_on(sys.stderr) as listener:
                return isolated.check(listener)
    with watched.within(run_options.set_up_limit(run.timeout)):
        binding = run_options.resolve_any(target, run)
    with shown_on(sys.stderr) as listener:
        return InProcess(binding, run, clauses, entries, target).check(listener)
