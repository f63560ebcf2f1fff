"""How the read policies of `openFile()` shape requests: a table."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fscontract.implementations.options import OpenOptions

_KIB = 1 << 10
_MIB = 1 << 20


@dataclass(frozen=True)
class Plan:
    """How stream reads become requests. Sizes are in bytes."""

    #: What the first request of a run of reads is for, ...
    first: int
    #: ... how many times longer each further one of the run is, and the most it may be.
    growth: int = 1
    most: int = 1 << 40
    #: How many requests are under way ahead of the reader, and how much of each is kept.
    ahead: int = 0
    hold: int = 0
    #: Whether a seek backwards or a positioned read ends this, and `random` goes on.
    adaptive: bool = False
    #: Whether the footer is kept, if the reader does not say.
    footer: bool = False


_RANDOM = Plan(first=64 * _KIB)
_SEQUENTIAL = Plan(first=64 * _MIB, growth=8, ahead=1, hold=_MIB)
_ADAPTIVE = Plan(first=128 * _KIB, growth=512, most=64 * _MIB, ahead=1, hold=_MIB, adaptive=True)
_COLUMNAR = replace(_RANDOM, footer=True)
#: What is not here is read like `default`.
PLANS: dict[str, Plan] = {
    "default": _ADAPTIVE,
    "adaptive": _ADAPTIVE,
    "sequential": _SEQUENTIAL,
    "avro": _SEQUENTIAL,
    "csv": _SEQUENTIAL,
    "json": _SEQUENTIAL,
    "whole-file": Plan(first=8 * _MIB, ahead=3, hold=8 * _MIB),
    "random": _RANDOM,
    "vector": _RANDOM,
    "columnar": _RANDOM,
    "hbase": _RANDOM,
    "parquet": _COLUMNAR,
    "orc": _COLUMNAR,
}


def plan_of(options: OpenOptions, default: str | None = None) -> Plan:
    """The plan of an open: its policy's, with its buffer size and footer cache."""
    plan = PLANS.get(options.read_policy or default or "default", _ADAPTIVE)
    if options.footer_cache is not None:
        plan = replace(plan, footer=options.footer_cache)
    if options.buffer_size is not None:
        plan = with_buffer(plan, options.buffer_size)
    return plan


def with_buffer(plan: Plan, size: int) -> Plan:
    """The plan for a reader that asked for a buffer: a run begins with as much, or with more."""
    first = size if plan.growth == 1 and not plan.ahead else max(size, plan.first)
    return replace(plan, first=max(1, first))


def random_plan(plan: Plan) -> Plan:
    """What an adaptive plan goes on with."""
    return replace(_RANDOM, footer=plan.footer)
