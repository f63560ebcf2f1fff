"""Checks of parts of a pipeline without a command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fscontract.contract.pipeline_bindings import PipelineBinding
from fscontract.contract.runner.events import Listener
from fscontract.contract.runner.result import RunResult
from fscontract.contract.runner.settings import Settings
from fscontract.contract.scenarios import check
from fscontract.contract.spec.clauses import Clause
from fscontract.contract.spec.known_failures import Known
from fscontract.contract.spec.profiles import NO_PROFILE


def check_pipeline(
    binding: PipelineBinding,
    clauses: Sequence[Clause],
    known: Sequence[Known] = (),
    listener: Listener = lambda event: None,
    **settings: Any,
) -> RunResult:
    """Return the result of a run with these fields of `Settings`."""
    chosen = Settings(NO_PROFILE, tuple(clauses), known=tuple(known), **settings)
    return check.check_pipeline(binding, chosen, listener)
