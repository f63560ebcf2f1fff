"""Features that the user declares, and that the target does not have."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path

from fscontract.contract.runner.counterexamples import Counterexamples
from fscontract.contract.runner.result import NOT_THERE, ClauseResult, RunResult, Verdict
from fscontract.contract.runner.run_options import RunOptions, profile_of
from fscontract.contract.runner.settings import Settings, with_checks
from fscontract.contract.runner.verdicts import Evidence, sum_up
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.spec.profiles import Profile, load_profile
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.memory import MemoryFileSystem

FEATURE = "supports-new-source"


def run(profile: Profile, *without: str, only: str = "", judged: str = "") -> RunResult:
    """Return the result of a run that judged one clause, on a target without some operations."""
    binding = StreamBinding(MemoryFileSystem(), "few")
    binding.operations -= {*without}
    chosen = tuple(c for c in with_checks(clauses().values()) if c.id.startswith(only))
    settings = Settings(profile, chosen)
    counts = Counter({judged: 1})
    evidence = Evidence(Counterexamples(settings.selected), counts, frozenset(), frozenset())
    return sum_up(binding, settings, evidence, datetime.now(), 0.0, {})


def absent(result: RunResult) -> list[ClauseResult]:
    """Return the clauses that fail since a feature is not there."""
    found = [c for c in result.clauses if c.counterexample is not None]
    return [c for c in found if c.counterexample and c.counterexample.how == NOT_THERE]


def promised() -> Profile:
    """Return the profile of a user who adds the feature."""
    return profile_of("reference", RunOptions(features=(FEATURE,)))


def test_a_declared_feature_without_a_call_fails() -> None:
    (clause,) = absent(run(promised(), "seek_to_new_source"))
    assert FEATURE in clause.clause.needs
    assert clause.outcome is Verdict.FAIL
    assert clause.counterexample is not None
    assert clause.counterexample.actual == f"{NOT_THERE}: the stream API has no such call"


def test_a_feature_of_the_profile_alone_promises_nothing() -> None:
    """The profiles that ship with the package are used for many targets."""
    assert (
        absent(run(load_profile("reference").with_features([FEATURE]), "seek_to_new_source")) == []
    )


def test_a_feature_that_a_call_can_exercise_is_there() -> None:
    """Its clauses are judged by what the call does."""
    assert absent(run(promised())) == []


def test_a_run_of_few_clauses_does_not_tell() -> None:
    """Others might be judged."""
    need = next(c.id for c in clauses().values() if FEATURE in c.needs and c.testable)
    assert absent(run(promised(), "seek_to_new_source", only=need)) == []


def test_a_profile_of_the_user_promises_what_is_no_default(tmp_path: Path) -> None:
    """Defaults may be written down without a promise."""
    file = tmp_path / "mine.yaml"
    file.write_text(
        "name: mine\ntitle: Mine.\nextends: reference\nfeatures:\n"
        "  supports-skip: true\n  supports-new-source: true\n  python-file: false\n"
    )
    assert load_profile(str(file)).promised == {FEATURE}
