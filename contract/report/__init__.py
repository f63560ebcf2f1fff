"""Reports: pure functions from what a run found to text, and the console that prints it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from fscontract.contract.runner.result import RunResult


@dataclass(frozen=True)
class NotSetUp:
    """A target that was asked for but could not be checked, and why, in one line."""

    target: str
    message: str


Entry: TypeAlias = RunResult | NotSetUp
