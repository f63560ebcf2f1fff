"""`fscontract profile`: propose a profile for a target, or show one."""

from __future__ import annotations

import re
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fscontract.contract.cli import options, watched
from fscontract.contract.command_line import say, say_error
from fscontract.contract.runner.exit_codes import CONFORMS, VIOLATION

if TYPE_CHECKING:
    from fscontract.contract.binding import Binding
    from fscontract.contract.runner.profile_inference import Inferred
    from fscontract.contract.runner.result import RunResult
    from fscontract.contract.runner.run_options import RunOptions
    from fscontract.contract.spec.known_failures import Known
    from fscontract.contract.spec.profiles import Profile

_PATH = click.Path(path_type=Path)
_REASON = "observed by profile infer, not verified"


@click.group(short_help="Propose a profile, or show one.")
def profile() -> None:
    """Profiles say what a target declares."""


@profile.command(
    cls=watched.WatchedCommand, short_help="Propose a profile and a file of known failures."
)
@click.argument("target")
@options.infer_options
@click.option("--write", metavar="PROFILE.yaml", type=_PATH, help="Write the profile.")
@click.option("--known", metavar="KNOWN.yaml", type=_PATH, help="Write its known failures.")
@click.pass_context
def infer(
    ctx: click.Context,
    /,
    *,
    target: str,
    write: Path | None,
    known: Path | None,
    **values: Any,
) -> None:
    """Run the suite on TARGET a few times, and propose a profile.

    With the two files that this writes, `fscontract check TARGET --profile PROFILE.yaml --known
    KNOWN.yaml` exits 0. They describe observed behaviour, which may be wrong: review them, and
    replace their reasons with those of the connector. Without --write they are printed. Features
    given with --features are not changed.

    Exit codes: 0 done, 1 a second run has other results, 2 usage, 3 the target can't be used.
    """
    from fscontract.contract.runner.profile_inference import titled
    from fscontract.contract.spec.known_failures import failures, to_yaml

    outputs = [path for path in (write, known) if path is not None]
    _refuse_old(outputs)
    options.check_writable(outputs)
    run = options.collect(options.WHOLE | values)
    inferred = _infer(target, run)
    now = datetime.now(timezone.utc)
    named = titled(inferred.profile, _name(inferred.result.target), f"{now:%Y-%m-%d}")
    listed = failures(inferred.result, _REASON)
    text = _profile_text(inferred, named, target)
    heading = (
        f"# Observed on {now:%Y-%m-%d} with effort {run.effort}, seed {run.seed}; not verified.\n"
    )
    _put(write, text)
    _put(known, heading + to_yaml(listed), quiet=write is not None)
    click.echo(_summary(inferred, len(listed)), err=True)
    different = _differences(target, run, inferred, listed)
    for line in different:
        say_error(f"the second run has other results: {line}")
    ctx.exit(VIOLATION if different else CONFORMS)


@profile.command(short_help="Show a profile.")
@click.argument("name", metavar="NAME|FILE")
def show(name: str) -> None:
    """List what the profile declares and what it does not."""
    from fscontract.contract.spec.profiles import features, load_profile

    chosen = load_profile(name)
    say(f"{chosen.name}: {chosen.title}")
    for feature in features():
        says = "yes" if chosen.has(feature) else "no"
        click.echo(f"  {'observed' if feature in chosen.observed else says:8}  {feature}")
    facts = {"buffer": chosen.buffer, "remote": chosen.remote}
    for key, value in facts.items():
        if value is not None:
            click.echo(f"  {key}: {str(value).lower()}")


def _refuse_old(paths: list[Path]) -> None:
    for path in paths:
        if path.exists():
            raise click.UsageError(f"{path}: already exists; remove it, or choose another path")


def _infer(target: str, run: RunOptions) -> Inferred:
    from fscontract.contract.runner.profile_inference import infer
    from fscontract.contract.runner.run_options import profile_of

    names = [name.removeprefix("!").removeprefix("-") for name in run.features]
    base = profile_of(_resolve(target, run).default_profile, run)
    return infer(lambda profile: _check(target, run, profile, ()), base, names)


def _resolve(target: str, run: RunOptions) -> Binding:
    from fscontract.contract.runner.run_options import resolve, set_up_limit

    with watched.within(set_up_limit(run.timeout)):
        return resolve(target, run)


def _check(target: str, run: RunOptions, profile: Profile, known: tuple[Known, ...]) -> RunResult:
    from dataclasses import replace

    from fscontract.contract.binding import TargetError
    from fscontract.contract.report.console import shown_on
    from fscontract.contract.runner import run_options, runner
    from fscontract.contract.runner.result import Verdict

    click.echo(f"running with {len(profile.features)} features declared", err=True)
    binding = _resolve(target, run)
    settings = run_options.settings_for(binding, run, run_options.selected(run), profile=profile)
    settings = replace(settings, known=known)
    with shown_on(sys.stderr) as listener:
        result = runner.check(binding, settings, listener)
    lost = [c for c in result.clauses if c.outcome is Verdict.ERROR]
    if lost:
        raise TargetError(f"{result.target}: calls failed with connection errors")
    return result


def _name(target: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", target.lower()).strip("-") or "target"


def _profile_text(inferred: Inferred, named: Profile, target: str) -> str:
    import json

    from fscontract.contract.text import mask_url

    lines = [
        f"# Observed on {json.dumps(mask_url(target))}; not verified.",
        f"name: {named.name}",
        f"title: {named.title}",
        "features:",
    ]
    for feature in inferred.features:
        if feature.name != "openfile-unsupported-keys":
            word = "true" if feature.declared else "false"
            lines.append(f"  {feature.name}: {word}  # {feature.because}")
    lines += [f"{key}: {json.dumps(value)}" for key, value in _rest(named).items()]
    return "\n".join(lines) + "\n"


def _rest(named: Profile) -> dict[str, Any]:
    """Return the fields of the profile besides features, as in its file."""
    opening = {
        "keys": sorted(named.own_keys),
        "unsupported": sorted(named.unsupported_keys),
        "budgets": {clause: dict(budget) for clause, budget in named.budgets.items()},
    }
    rest: dict[str, Any] = {"buffer": named.buffer, "remote": named.remote}
    rest["openfile"] = {key: value for key, value in opening.items() if value}
    return {key: value for key, value in rest.items() if value not in (None, {})}


def _put(path: Path | None, text: str, quiet: bool = False) -> None:
    if path is not None:
        path.write_text(text, encoding="utf-8")
    elif not quiet:
        click.echo(text, nl=False)


def _summary(inferred: Inferred, failing: int) -> str:
    from fscontract.contract.text import plural

    declared = sum(feature.declared for feature in inferred.features)
    return (
        f"{plural(declared, 'feature')} declared, {plural(failing, 'known failure')}; not verified"
    )


def _differences(
    target: str, run: RunOptions, inferred: Inferred, listed: tuple[Known, ...]
) -> list[str]:
    """Return the differences between a second run and the first."""
    from fscontract.contract.report.text import summary_of
    from fscontract.contract.runner.result import FAILING

    second = _check(target, run, inferred.profile, listed)
    return [f"{c.clause.id}: {summary_of(c)}" for c in second.clauses if c.outcome in FAILING]
