"""`fscontract matrix`: join the reports of several runs in one table."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fscontract.contract.cli import options
from fscontract.contract.command_line import say
from fscontract.contract.runner import exit_codes

if TYPE_CHECKING:
    from fscontract.contract.report.matrix import Column, Findings, Matrix

_PATH = click.Path(path_type=Path)


@click.command(short_help="Join JSON reports into one table.")
@click.argument("reports", metavar="[NAME=]A.json...", nargs=-1, required=True)
@click.option("--markdown", metavar="FILE", type=_PATH, help="Write Markdown.")
@click.option("--html", metavar="FILE", type=_PATH, help="Write a self-contained HTML page.")
@click.option("--title", default="Conformance matrix", show_default=True, help="The heading.")
@click.option(
    "--findings",
    metavar="FILE.md",
    type=_PATH,
    help="Page with a heading for each finding, such as '### F1 Title', named by known failures.",
)
@click.option("--all", "everything", is_flag=True, help="Show every row in full in Markdown, too.")
@click.option("--strict", is_flag=True, help="Exit 1 if a violation has no finding.")
@click.pass_context
def matrix(
    ctx: click.Context,
    /,
    *,
    reports: tuple[str, ...],
    markdown: Path | None,
    html: Path | None,
    title: str,
    findings: Path | None,
    everything: bool,
    strict: bool,
) -> None:
    """Join reports that `check --json` wrote: clauses down, targets across.

    Without --markdown and --html the table is printed as Markdown. NAME= before a report gives its
    column another name than its target's. Of a known failure, or of a SHOULD that is not kept, the
    column shows the `issue` that the run's file of known failures has for it.

    Exit codes: 0 done, 1 with --strict if an outcome has no finding, 2 usage or a bad report.
    """
    from fscontract.contract.report import matrix_render as as_markdown
    from fscontract.contract.report.matrix import join, unexplained

    outputs = [path for path in (markdown, html) if path is not None]
    options.check_writable(outputs)
    columns = [column for text in _once(reports) for column in _read(text)]
    joined = join(columns, title, datetime.now(timezone.utc))
    if markdown is not None or html is None:
        text = as_markdown.render_markdown(joined, _findings(findings, markdown), everything)
        _write(markdown, text)
    if html is not None:
        _write(html, _as_html(joined, _findings(findings, html)))
    outcomes = unexplained(joined, _findings(findings, None))
    for one in outcomes if strict else ():
        say(f"without a finding: {one.column.label}: {one.clause}: {one.fault}", err=True)
    ctx.exit(exit_codes.VIOLATION if strict and outcomes else exit_codes.CONFORMS)


def _once(reports: tuple[str, ...]) -> tuple[str, ...]:
    for text in reports:
        if reports.count(text) > 1:
            raise click.UsageError(f"duplicate report: {text}")
    return reports


def _read(text: str) -> list[Column]:
    from fscontract.contract.report.matrix import read_reports

    label, equals, path = text.partition("=")
    if equals and label and not Path(text).exists():
        return read_reports(Path(path), label)
    return read_reports(Path(text))


def _findings(path: Path | None, output: Path | None) -> Findings:
    """Join reports that `check --json` wrote: clauses down, targets across.

    Without --markdown and --html the table is printed as Markdown. NAME= before a report sets the
    title of its column. For known failures and missed SHOULDs, the column shows the `issue` in the
    run's file of known failures.

    Exit codes: 0 done, 1 with --strict if an outcome has no finding, 2 usage or an invalid report.
    """
    from fscontract.contract.report.matrix import Findings, load_findings

    if path is None:
        return Findings()
    start = Path.cwd() if output is None else output.parent
    return load_findings(path, Path(os.path.relpath(path, start)).as_posix())


def _as_html(joined: Matrix, findings: Findings) -> str:
    from fscontract.contract.report.matrix_render import render_html

    return render_html(joined, findings)


def _write(path: Path | None, text: str) -> None:
    if path is None:
        click.echo(text, nl=False)
    else:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
