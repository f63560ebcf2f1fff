"""The pytest plug-in: `test_contract = conformance(make_filesystem)` is a test for every clause.

It does nothing until a test module calls `conformance`. pytest loads it at start-up, so it imports
the rest of the kit on first use.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from warnings import catch_warnings, simplefilter

import pytest

from fscontract.contract import __version__

if TYPE_CHECKING:
    from fscontract.contract.pytest_workers import SharedRuns
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
        #: The result of each part that was run, or why it has none; one part without workers.
        self._results: dict[int, RunResult | str] = {}
        self._warned: set[int] = set()

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

    def run(
        self,
        name: str,
        effort: str,
        seed: int,
        clauses: Sequence[Clause],
        clause: str,
        shared: SharedRuns | None = None,
        replays: bool = False,
    ) -> RunResult:
        """Return the only run with this clause; fail without a traceback if there is none.

        It is that of all clauses, or of a part of them that workers share. With `replays`, a run on
        a target that a command can name writes replay files.
        """
        from fscontract.contract.binding import TargetError
        from fscontract.contract.pytest_workers import part_with, parts_of
        from fscontract.contract.targets import UsageError

        parts = [tuple(clauses)] if shared is None else parts_of(clauses)
        part = part_with(parts, clause)
        if part not in self._results:
            try:
                if shared is None:
                    self._results[part] = self._check(name, effort, seed, clauses, replays)
                else:
                    key = f"{name} {effort} {seed}"
                    found = shared.result_of(
                        key,
                        part,
                        len(parts),
                        lambda n: self._check(name, effort, seed, parts[n], replays),
                    )
                    self._results[part] = found.result or found.fault
            except (TargetError, UsageError) as error:
                self._results[part] = str(error)
        result = self._results[part]
        if isinstance(result, str):
            raise _no_verdict(result)
        return result

    def warnings(self, run: RunResult) -> tuple[str, ...]:
        """Return the warnings of a run to the first caller, and nothing to later ones."""
        warned = id(run) in self._warned
        self._warned.add(id(run))
        return () if warned else run.warnings

    def exception_of(self, name: str, run: RunResult, result: ClauseResult) -> BaseException | None:
        """Return the exception of the target in a failure, by running its program again."""
        from fscontract.contract.runner.replay import exception_of
        from fscontract.contract.runner.run_options import profile_of
        from fscontract.contract.targets import bind_connector

        if result.counterexample is None:
            return None
        profile = profile_of(run.profile, self._options()).as_observed(run.observed)
        binding = bind_connector(self.connector, name)
        return exception_of(binding, result.counterexample, profile, run.buffer)

    def _check(
        self, name: str, effort: str, seed: int, clauses: Sequence[Clause], replays: bool
    ) -> RunResult:
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
            target = _typed(self.connector) if replays else None
            settings = settings_for(binding, run, ordered, known, target=target)
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
        self._run: RunResult | None = None

    def setup(self) -> None:
        """Run the suite if it has not run, for the clauses of the selected tests."""
        from fscontract.contract.report.text import summary_of
        from fscontract.contract.runner.result import UNVERIFIED, Verdict
        from fscontract.contract.text import printable

        items = [i for i in self.session.items if isinstance(i, ClauseItem)]
        chosen = [i.clause for i in items if i.suite is self.suite]
        run = self.suite.run(
            self.label,
            self.effort,
            self.seed,
            chosen or [self.clause],
            self.clause.id,
            _shared(self.config),
            bool(
                self.config.getoption("contract_replays") or self.config.getini("contract_replays")
            ),
        )
        self._run = run
        result = next(r for r in run.clauses if r.clause.id == self.clause.id)
        self.user_properties.append(("verdict", result.outcome.value))
        warnings = self.suite.warnings(run)
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
            violation = ContractViolation("\n".join(failure_block(result)))
            if self.config.getoption("usepdb", False) and self._run is not None:
                # A debugger begins at the last frame of the traceback: that of the target.
                raised = self.suite.exception_of(self.label, self._run, result)
                if raised is not None:
                    raise violation.with_traceback(raised.__traceback__)
            raise violation

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


#: The folder that the workers of pytest-xdist share, in their input, and that of the controller.
_INPUT = "fscontract_runs"
_FOLDER = pytest.StashKey[Path]()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist the folder of shared runs, if it is on this machine."""
    if getattr(node.gateway.spec, "popen", False):
        made = Path(tempfile.gettempdir(), f"fscontract-{uuid.uuid4().hex}")
        node.workerinput[_INPUT] = str(node.config.stash.setdefault(_FOLDER, made))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the folder of shared runs, if workers made one."""
    if _FOLDER in config.stash:
        shutil.rmtree(config.stash[_FOLDER], ignore_errors=True)


def _shared(config: pytest.Config) -> SharedRuns | None:
    """Return the runs that workers of pytest-xdist share; None in a session without them."""
    from fscontract.contract.pytest_workers import shared_runs

    return shared_runs(getattr(config, "workerinput", {}).get(_INPUT))


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
    group.addoption(
        "--contract-replays",
        action="store_true",
        help="write a replay file of each failure to .fscontract, for fscontract replay",
    )
    parser.addini("contract_replays", "write replay files", type="bool", default=False)
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


def _typed(connector: Connector) -> str | None:
    """Return the target as a command names it: itself, or `file.py:callable`; None without one."""
    if isinstance(connector, str):
        return connector
    name, module = getattr(connector, "__qualname__", ""), getattr(connector, "__module__", "")
    file = getattr(sys.modules.get(module), "__file__", None)
    return f"{os.path.relpath(file)}:{name}" if file and name.isidentifier() else None


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
