"""Mutants are made from functions, and combined."""

from __future__ import annotations

from fscontract.fakes.mutants.registry import mutant_named


def test_both_bugs_of_combined_mutants_show_though_methods_are_generators() -> None:
    first = mutant_named("block.failure-named-BareErrors")
    both = first.combined(mutant_named("block.emitted-after-ReportsFailedBlocks"))
    assert both is not None
    assert both.clause in both.broken()


def test_mutant_that_would_replace_the_bug_of_another_can_not_be_combined_with_it() -> None:
    one = mutant_named("split.last-flag-LastIfWhole")
    assert one.combined(mutant_named("split.linked-LinkedToFirst")) is None
