"""Parts of pipelines for scripts of failures: a mutant, or the reference implementation."""

from __future__ import annotations

from typing import cast

from fscontract.contract.pipeline_bindings import PipelineBinding
from fscontract.contract.targets import PIPELINES, installed
from fscontract.fakes.mutants.registry import mutant_named


def make(name: str, right: bool = False) -> PipelineBinding:
    """Return the part of a mutant, or the right one of its kind."""
    binding = mutant_named(name).binding()
    part = installed(PIPELINES)[binding.api].load()({}) if right else binding
    return cast("PipelineBinding", part)
