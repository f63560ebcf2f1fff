"""The check of a block reader: which clauses it breaks, and how."""

from __future__ import annotations

from collections.abc import Collection

from fscontract.contract.models.records import Broken
from fscontract.contract.readerport import BlockReaderBinding
from fscontract.contract.suite.blockreader import scaling
from fscontract.contract.suite.blockreader.bench import Bench, Violated, run_case
from fscontract.contract.suite.blockreader.cases import GENERAL, RECORDS
from fscontract.contract.suite.blockreader.scenarios import SCENARIOS, Scenario

assert scaling  # its scenarios are among SCENARIOS now
#: What the model names by itself.
MODELLED = frozenset(
    {"rec.none-lost", "rec.none-twice", "rec.owner", "rec.whole", "rec.offset", "rec.order"}
)
CHECKED = MODELLED | {c.clause for c in RECORDS} | {clause for clause, _ in SCENARIOS}


def check_reader(
    binding: BlockReaderBinding, wanted: Collection[str] = CHECKED
) -> dict[str, Broken]:
    """The first finding of each clause that a reader breaks, of those that are wanted."""
    found: dict[str, Broken] = {}
    for case in [*GENERAL, *RECORDS]:
        if case.clause not in found and (case.clause in wanted or not case.clause):
            broken = run_case(binding, case)
            if broken is not None:
                found.setdefault(broken.clause, broken)
    for clause, play in SCENARIOS:
        if clause in wanted and clause not in found:
            broken = _play(binding, clause, play)
            if broken is not None:
                found[clause] = broken
    return {clause: broken for clause, broken in found.items() if clause in wanted}


def _play(binding: BlockReaderBinding, clause: str, play: Scenario) -> Broken | None:
    expected = " ".join((play.__doc__ or "").split())
    try:
        play(Bench(binding, clause))
    except Violated as violated:
        return violated.broken
    except Exception as error:  # a reader may raise anything
        return Broken(clause, expected, f"{type(error).__name__}: {error}")
    return None
