"""Play the scenarios of the splitter, and report the clauses that break."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from fscontract.contract.models.splitter import Broken
from fscontract.contract.pipeline_bindings import SplitterBinding
from fscontract.contract.runner.sandbox import said_by
from fscontract.contract.scenarios.check import Findings, Shown
from fscontract.contract.scenarios.splitter import processing, scanning, windows
from fscontract.contract.scenarios.splitter.harness import Bench
from fscontract.contract.scenarios.splitter.scenario import Scenario
from fscontract.contract.spec.clauses import clauses


def scenarios() -> Sequence[Scenario]:
    """The scenarios, in the order of the document."""
    modules = (processing, scanning, windows)
    return [scenario for module in modules for scenario in module.scenario.all]


#: The check of clauses that the model judges, whatever the scenario.
MODEL = "splitter.model"


def scenarios_of(wanted: Collection[str]) -> list[Scenario]:
    """The scenarios that judge these clauses: all of them if the model judges one."""
    known = clauses()
    if any(MODEL in known[name].checks for name in wanted if name in known):
        return list(scenarios())
    return [scenario for scenario in scenarios() if not {*scenario.clauses}.isdisjoint(wanted)]


@dataclass
class _Played:
    """What came of one scenario."""

    bench: Bench | None = None
    error: BaseException | None = None


def check_splitter(
    binding: SplitterBinding,
    wanted: frozenset[str],
    timeout: float,
    begin: Callable[[Scenario], None] = lambda scenario: None,
    chosen: Iterable[Scenario] | None = None,
) -> Findings:
    """What the scenarios find out about the clauses `wanted`.

    Those are played that speak of one of them; all of them, if the model does, too. One that takes
    longer than `timeout` seconds hangs, and is left behind.
    """
    findings = Findings(wanted)
    play_all(findings, binding, scenarios_of(wanted) if chosen is None else chosen, timeout, begin)
    return findings


def play_all(
    findings: Findings,
    binding: SplitterBinding,
    chosen: Iterable[Scenario],
    timeout: float,
    begin: Callable[[Scenario], None] = lambda scenario: None,
) -> None:
    """Play these scenarios, and add to the findings what each shows."""
    asked = list(chosen)
    for number, scenario in enumerate(asked, 1):
        begin(scenario)
        played = _Played()
        thread = threading.Thread(target=_play, args=(binding, scenario, played), daemon=True)
        thread.start()
        thread.join(timeout)
        _judge(findings, scenario, played, thread.is_alive())
        findings.beat(number, len(asked))


def _play(binding: SplitterBinding, scenario: Scenario, played: _Played) -> None:
    try:
        played.bench = bench = Bench(binding)
        try:
            scenario.play(bench)
        finally:
            bench.close()
    except BaseException as error:  # a splitter under test may raise anything
        played.error = error


def _judge(findings: Findings, scenario: Scenario, played: _Played, hangs: bool) -> None:
    bench, main = played.bench, (scenario.clauses or ("split.cover",))[0]
    findings.counts["scenarios"] += 1
    broken = [] if bench is None else list(bench.broken)
    if bench is not None:
        findings.exercised.update(bench.exercised)
    if hangs:
        findings.hang(Shown(main, scenario.says, "it ends", "still running"))
    elif played.error is not None and not broken:
        broken.append(Broken(main, "no exception", said_by(played.error)))
    for one in broken:
        findings.fail(Shown(one.clause, scenario.says, one.expected, one.actual))
