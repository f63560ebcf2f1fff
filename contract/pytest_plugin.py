"""The pytest plug-in: `test_contract = conformance(make_filesystem)` is a test for every clause.

It does nothing until a test module calls `conformance`. pytest loads it at start-up, so it imports
the rest of the kit on first use.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from warnings import catch_warnings, simplefilter

import pytest

from fscontract.contract import __version__

if TYPE_CHECKING:
    from fscontract.contract.runner.result import ClauseResult, RunResult
    from fscontract.contract.runner.run_options import RunOptions
    from fscontract.contract.spec.clauses import Clause

_EFFORTS = ("quick", "normal", "deep")
#: A callable that returns a filesystem or a Binding, or a target as on the command line.
Connector: TypeAlias = Callable[[], Any] | str


class ContractViolation(AssertionError):
    """A clause is violated; the message is its full report."""


class Conformance:
    """A suite for one connector; pytest makes a test of every clause if its name is `test*`."""

    def __init__(
        self,
        connector: Connector,
        *,
        profile: str | None,
        features: tuple[str, ...],
        known: str | Path | None,
        effort: str | None,
        clauses: tuple[str, ...],
        exclude: tuple[str, ...],
        seed: int | None,
        line: int,
    ) -> None:
        self.connector = connector
        self.profile = profile
        self.features = features
        self.known = known
        self.effort = effort
        self.clauses = clauses
        self.exclude = exclude
        self.seed = seed
        self.line = line
        self._result: RunResult | None = None
        self._fault: str | None = None
        self._warned = False

    def select(self) -> tuple[Clause, ...]:
        """Return the testable clauses; raise ValueError, with one line, for invalid arguments."""
        from fscontract.contract.runner.run_options import profile_of, selected
        from fscontract.contract.spec.known_failures import load_known

        if self.effort is not None and self.effort not in _EFFORTS:
            raise ValueError(f"unknown effort {self.effort!r}; known: {', '.join(_EFFORTS)}")
        run = self._options()
        profile_of("default", run)
        if self.known is not None:
            load_known(Path(self.known))
        chosen = selected(run)
        if not chosen:
            raise ValueError("no testable clause is selected; see 'fscontract list'")
        return chosen

    def run(self, name: str, effort: str, seed: int, clauses: Sequence[Clause]) -> RunResult:
        """Return the result of the only run; fail without a traceback if there is none."""
        from fscontract.contract.binding import TargetError
        from fscontract.contract.targets import UsageError

        if self._result is None and self._fault is None:
            try:
                self._result = self._check(name, effort, seed, clauses)
            except (TargetError, UsageError) as error:
                self._fault = str(error)
        if self._result is None:
            raise _no_verdict(str(self._fault))
        return self._result

    def warnings(self) -> tuple[str, ...]:
        """Return the warnings of the run to the first caller, and nothing to later ones."""
        warned, self._warned = self._warned, True
        return () if warned or self._result is None else self._result.warnings

    def _check(self, name: str, effort: str, seed: int, clauses: Sequence[Clause]) -> RunResult:
        from fscontract.contract.runner import runner
        from fscontract.contract.runner.run_options import settings_for
        from fscontract.contract.spec import RenamedWarning
        from fscontract.contract.spec.clauses import clauses as every
        from fscontract.contract.spec.known_failures import load_known
        from fscontract.contract.targets import bind_connector

        binding = bind_connector(self.connector, name)
        ordered = tuple(sorted(clauses, key=[*every().values()].index))  # may be in any order
        run = replace(self._options(), effort=effort, seed=seed)
        with catch_warnings():
            simplefilter("ignore", RenamedWarning)  # `select` has already warned
            known = load_known(Path(self.known)) if self.known is not None else ()
            settings = settings_for(binding, run, ordered, known)
        return runner.check(binding, settings)

    def _options(self) -> RunOptions:
        from fscontract.contract.runner.run_options import RunOptions

        return RunOptions(self.profile, self.features, self.clauses, exclude=self.exclude)


def conformance(
    connector: Connector,
    *,
    profile: str | None = None,
    features: Sequence[str] = (),
    known: str | Path | None = None,
    effort: str | None = None,
    clauses: str | Sequence[str] | None = None,
    exclude: str | Sequence[str] = (),
    seed: int | None = None,
) -> Conformance:
    """Return a pytest test for every clause: `test_contract = conformance(make_filesystem)`.

    `connector` returns a filesystem of any kind that has a binding, or is a target as on the
    command line. `clauses` are ids, groups or globs, and so is `exclude`, which removes clauses
    from them. `--contract-effort` and `--contract-seed` take precedence; without them, pytest's
    settings `contract_effort` and `contract_seed` apply, with the defaults quick and 0. The suite
    runs once, for the first of its tests.
    """
    patterns = (clauses,) if isinstance(clauses, str) else tuple(clauses or ())
    line = sys._getframe(1).f_lineno - 1
    return Conformance(
        connector,
        profile=profile,
        features=tuple(features),
        known=known,
        effort=effort,
        clauses=patterns,
        exclude=(exclude,) if isinstance(exclude, str) else tuple(exclude),
        seed=seed,
        line=line,
    )


class ClauseItem(pytest.Item):
    """The test of one clause."""

    def __init__(self, *, suite: Conformance, clause: Clause, label: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.suite = suite
        self.clause = clause
        self.label = label
        self.effort = str(_setting(self.config, "contract_effort", suite.effort))
        self.seed = int(_setting(self.config, "contract_seed", suite.seed))
        self.user_properties += [
            ("clause", clause.id),
            ("level", clause.level.value),
            ("seed", self.seed),
        ]
        self._clause_result: ClauseResult | None = None

    def setup(self) -> None:
        """Run the suite if it has not run, for the clauses of the selected tests."""
        from fscontract.contract.report.text import summary_of
        from fscontract.contract.runner.result import UNVERIFIED, Verdict
        from fscontract.contract.text import printable

        items = [i for i in self.session.items if isinstance(i, ClauseItem)]
        chosen = [i.clause for i in items if i.suite is self.suite]
        run = self.suite.run(self.label, self.effort, self.seed, chosen or [self.clause])
        result = next(r for r in run.clauses if r.clause.id == self.clause.id)
        self.user_properties.append(("verdict", result.outcome.value))
        warnings = self.suite.warnings()
        if warnings:
            self.user_properties.append(("warnings", printable("\n".join(warnings))))
        if result.outcome is Verdict.ERROR:
            raise _no_verdict(f"no verdict, the environment failed: {result.reason}")
        if result.outcome in UNVERIFIED:
            reason = printable(result.reason.removeprefix(f"{result.outcome}: "))
            raise pytest.skip.Exception(f"{result.outcome}: {reason}", _use_item_location=True)
        if result.outcome is Verdict.LAX:
            self.user_properties.append(("lax", summary_of(result)))
        self._clause_result = result

    def runtest(self) -> None:
        """Fail with the report of the clause if it is violated."""
        from fscontract.contract.report.text import failure_block
        from fscontract.contract.runner.result import FAILING, Verdict

        result = self._clause_result
        assert result is not None
        explained = (Verdict.KNOWN, Verdict.INHERITED)
        if result.outcome in explained:
            _expect_failure(result.reason)
        if result.outcome in FAILING or result.outcome in explained:
            raise ContractViolation("\n".join(failure_block(result)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return only the report: the source lines of this plug-in would not help.

        Its summary in one line is the expected and the actual outcome.
        """
        from fscontract.contract.report.text import summary_of

        if not isinstance(excinfo.value, ContractViolation) or self._clause_result is None:
            return super().repr_failure(excinfo, style)
        lines = [str(excinfo.value), f"  again      pytest {shlex.quote(self.nodeid)}"]
        shown: Any = excinfo.getrepr(style="native")
        shown.reprtraceback.reprentries = shown.reprtraceback.reprentries[:1]
        shown.reprtraceback.reprentries[0].lines = ["\n".join(lines) + "\n"]
        shown.reprcrash.path, shown.reprcrash.lineno = str(self.path), self.suite.line + 1
        shown.reprcrash.message = summary_of(self._clause_result)
        return shown

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the line that calls `conformance`."""
        return self.path, self.suite.line, self.name


def _no_verdict(message: str) -> BaseException:
    """Return a failure to raise during setup, where pytest counts it as an error."""
    from fscontract.contract.text import printable

    return pytest.fail.Exception(printable(message), pytrace=False)


def _expect_failure(reason: str) -> None:
    """Report the test as an expected failure, but return under `--runxfail`."""
    from fscontract.contract.text import printable

    pytest.xfail(printable(reason))


def _setting(config: pytest.Config, name: str, said: object) -> Any:
    """Return the command line's value, else the argument of `conformance`, else the setting."""
    chosen = config.getoption(name)
    if chosen is None:
        chosen = config.getini(name) if said is None else said
    return chosen


def pytest_configure(config: pytest.Config) -> None:
    """Reject invalid settings."""
    effort, seed = config.getini("contract_effort"), config.getini("contract_seed")
    if effort not in _EFFORTS:
        raise pytest.UsageError(
            f"contract_effort must be one of {', '.join(_EFFORTS)}, got {effort!r}"
        )
    if not (seed.isascii() and seed.isdigit()):
        raise pytest.UsageError(f"contract_seed must be a whole number from 0, got {seed!r}")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--contract-effort` and `--contract-seed`, and settings of these names."""
    group = parser.getgroup("fscontract", "conformance to Hadoop's stream contract")
    group.addoption(
        "--contract-effort",
        choices=_EFFORTS,
        help="number of programs to run; overrides conformance()",
    )
    group.addoption(
        "--contract-seed",
        type=int,
        metavar="N",
        help="seed of generated programs; overrides conformance()",
    )
    parser.addini("contract_effort", "default effort", default="quick")
    parser.addini("contract_seed", "default seed", default="0")


def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> list[ClauseItem] | None:
    """Make the tests of a `conformance` whose name is that of a test."""
    if not isinstance(obj, Conformance) or not collector.funcnamefilter(name):
        return None
    label = f"{collector.name.removesuffix('.py')}.{name}"
    from fscontract.contract.spec import RenamedWarning

    try:
        clauses = obj.select()
    except (ValueError, RenamedWarning) as error:  # a user may turn warnings into errors
        raise pytest.Collector.CollectError(f"{name}: {error}") from error
    return [
        ClauseItem.from_parent(
            collector,
            name=f"{name}[{clause.id}]",
            # passed as a whole, because pytest 9.2 changes the id of a name with brackets
            nodeid=f"{collector.nodeid}::{name}[{clause.id}]",
            suite=obj,
            clause=clause,
            label=label,
        )
        for clause in clauses
    ]


def pytest_report_collectionfinish(items: Sequence[pytest.Item]) -> list[str]:
    """Return a line for each collected suite: its connector, clauses and settings.

    Another line lists the FSCONTRACT_ variables of the environment.
    """
    suites: dict[int, list[ClauseItem]] = {}
    for item in items:
        if isinstance(item, ClauseItem):
            suites.setdefault(id(item.suite), []).append(item)
    return [line for own in suites.values() for line in _head(own)]


def _head(own: Sequence[ClauseItem]) -> Iterator[str]:
    suite, first = own[0].suite, own[0]
    features = f", features {' '.join(suite.features)}" if suite.features else ""
    yield (
        f"fscontract {__version__}: {first.label}, {len(own)} clauses, "
        f"connector {_name(suite.connector)}, profile {suite.profile or 'of the binding'}"
        f"{features}, effort {first.effort}, seed {first.seed}"
    )
    variables = sorted(name for name in os.environ if name.startswith("FSCONTRACT_"))
    if variables:  # reveal misspelt variables; their values may be secret
        yield f"  set in the environment: {' '.join(variables)}"


def _name(connector: Connector) -> str:
    from fscontract.contract.text import mask_url

    if isinstance(connector, str):
        return mask_url(connector)
    kind: Any = connector if hasattr(connector, "__qualname__") else type(connector)
    return f"{kind.__module__}.{kind.__qualname__}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the anomalies of the runs, and the violated recommendations, whose tests pass."""
    lines = [*_warned(terminalreporter), *_lax(terminalreporter)]
    if lines:
        terminalreporter.section("fscontract")
        for line in lines:
            terminalreporter.write_line(line)


def _warned(reporter: pytest.TerminalReporter) -> Iterator[str]:
    for outcome in ("passed", "failed", "error", "skipped", "xfailed", "xpassed"):
        for report in reporter.stats.get(outcome, ()):
            # collection reports have no properties
            properties = dict(getattr(report, "user_properties", ()))
            if "warnings" in properties and "clause" in properties:
                suite = report.nodeid.partition("[")[0]
                for text in properties["warnings"].splitlines():
                    yield f"warning: {suite}: {text}"


def _lax(reporter: pytest.TerminalReporter) -> Iterator[str]:
    for report in reporter.stats.get("passed", ()):
        properties = dict(report.user_properties)
        if "lax" in properties and "clause" in properties:
            yield f"LAX  {report.nodeid}  {properties['level']}: {properties['lax']}"
