"""The check of a block reader: which clauses it breaks, and how."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial

from fscontract.contract.models.blockreader import Broken
from fscontract.contract.pipeline_bindings import BlockReaderBinding
from fscontract.contract.runner.sandbox import said_by
from fscontract.contract.scenarios.blockreader import scaling
from fscontract.contract.scenarios.blockreader.harness import (
    GENERAL,
    RECORDS,
    Bench,
    Violated,
    run_case,
)
from fscontract.contract.scenarios.blockreader.streams import SCENARIOS, Scenario

assert scaling  # its scenarios are among SCENARIOS now
#: What the model names by itself.
MODELLED = frozenset(
    {
        "record.none-lost",
        "record.none-twice",
        "record.owner",
        "record.whole",
        "record.offset",
        "record.order",
    }
)
CHECKED = MODELLED | {c.clause for c in RECORDS} | {clause for clause, _ in SCENARIOS}


def check_reader(
    binding: BlockReaderBinding, wanted: Collection[str] = CHECKED
) -> dict[str, Broken]:
    """The first finding of each clause that a reader breaks, of those that are wanted."""
    return {broken.clause: broken for broken in findings(binding, wanted)}


def findings(
    binding: BlockReaderBinding,
    wanted: Collection[str],
    beat: Callable[[int, int], None] = lambda done, total: None,
) -> Iterator[Broken]:
    """The same one by one; `beat` is told how many cases and scenarios were played, of how many."""
    found: set[str] = set()
    asked = [(c.clause, partial(run_case, binding, c)) for c in (*GENERAL, *RECORDS)]
    asked += [(clause, partial(_play, binding, clause, play)) for clause, play in SCENARIOS]
    for number, (clause, run) in enumerate(asked, 1):
        broken = run() if clause not in found and (clause in wanted or not clause) else None
        if broken is not None and broken.clause not in found:
            found.add(broken.clause)
            if broken.clause in wanted:
                yield broken
        beat(number, len(asked))


def _play(binding: BlockReaderBinding, clause: str, play: Scenario) -> Broken | None:
    expected = " ".join((play.__doc__ or "").split())
    try:
        play(Bench(binding, clause))
    except Violated as violated:
        return violated.broken
    except BaseException as error:  # a reader may raise anything
        return Broken(clause, expected, said_by(error))
    return None
