"""Count the likely causes that reports show for mutants, and for pairs of them.

    python -m benchmarks.causes [--parts] [--sample N] [--pairs N] [--seed S] [--jobs N]

A mutant has one bug, so that the failures of its report should be of one cause; those of a stream
with the bugs of two mutants, of two causes. The mutants are those of streams, Python files and
openFile(), and one in eight of those of filesystems and stores, by default all of them; with
`--parts` those of splitters, block readers and metadata tables, and pairs of these. Each is checked
at effort quick, by all clauses of streams and openFile(), or by those of its document. A mutant of
which these clauses show nothing, such as one for threads, is left out.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from fscontract.contract.runner.result import RunResult
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings
from fscontract.contract.scenarios.check import check_pipeline
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.spec.profiles import NO_PROFILE
from fscontract.fakes.mutants.registry import Mutant, mutant_named, mutants

_STREAMS = ("fsdatainputstream", "python-file", "openfile")
_FILESYSTEMS = (
    *("fsspec-filesystem", "fsspec-async", "fsspec-chain", "pyarrow-filesystem"),
    *("obstore-store", "opendal-operator", "readers"),
)
_PARTS = ("splitter", "blockreader", "metadata-table")
#: Time limit of a step of a scenario, in seconds.
_STEP = 3.0
#: Checks that follow all others, and take long.
_LEFT_OUT = "concurrency."


class Counted(NamedTuple):
    """The clauses of each cause that a report shows, and the mutants with the bugs."""

    names: tuple[str, ...]
    causes: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        causes = "; ".join(", ".join(ids) for ids in self.causes)
        return f"{' and '.join(self.names)}: {causes or 'nothing'}"


def chosen_mutants() -> list[Mutant]:
    """Return the mutants of streams, Python files and openFile(), and some of filesystems."""
    return [*mutants(*_STREAMS), *mutants(*_FILESYSTEMS)[::8]]


def checked(mutant: Mutant) -> RunResult:
    """Run the clauses that the bug of a mutant may violate."""
    documents = _STREAMS if mutant.document in _STREAMS else (mutant.document,)
    judged = tuple(
        clause
        for clause in clauses().values()
        if clause.document in documents
        and clause.testable
        and not any(check.startswith(_LEFT_OUT) for check in clause.checks)
    )
    if mutant.document in _PARTS:
        return check_pipeline(mutant.binding(), Settings(NO_PROFILE, judged, timeout=_STEP))
    return check(mutant.binding(), Settings(mutant.profile(), judged))


def counted(*names: str) -> Counted:
    """Check a mutant, or a stream with the bugs of two."""
    mutant, *others = map(mutant_named, names)
    for other in others:
        both = mutant.combined(other)
        assert both is not None
        mutant = both
    return Counted(names, tuple(cause.ids for cause in checked(mutant).causes))


def random_pairs(
    count: int, seed: int, documents: Sequence[str] = ("fsdatainputstream",)
) -> list[tuple[str, str]]:
    """Return pairs of mutants of these documents that one target can have both of."""
    chosen, all_of_them = random.Random(seed), mutants(*documents)
    pairs: list[tuple[str, str]] = []
    while len(pairs) < count:
        first, second = chosen.sample(all_of_them, 2)
        if first.clause != second.clause and first.combined(second) is not None:
            pairs.append((str(first), str(second)))
    return pairs


def main() -> None:
    """Print the share of mutants with one cause and of pairs with two, and the others."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, metavar="N", help="the number of mutants")
    parser.add_argument("--pairs", type=int, default=60, metavar="N", help="the number of pairs")
    parser.add_argument("--seed", type=int, default=0, help="the seed of samples and pairs")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="the number of processes")
    parser.add_argument("--parts", action="store_true", help="mutants of parts of pipelines")
    given = parser.parse_args()
    names = [str(mutant) for mutant in (mutants(*_PARTS) if given.parts else chosen_mutants())]
    if given.sample is not None:
        names = random.Random(given.seed).sample(names, min(given.sample, len(names)))
    documents = _PARTS if given.parts else ("fsdatainputstream",)
    pairs = random_pairs(given.pairs, given.seed, documents)
    with ProcessPoolExecutor(given.jobs) as pool:
        _show("mutants have one cause", pool.map(counted, names), lambda causes: causes == 1)
        both = pool.map(counted, *zip(*pairs, strict=True))
        _show("pairs have two causes or more", both, lambda causes: causes > 1)


def _show(text: str, found: Iterable[Counted], is_right: Callable[[int], bool]) -> None:
    """Print those of which the number of causes is not right, and the share of the others."""
    right = total = 0
    for one in found:
        total += bool(one.causes)
        right += is_right(len(one.causes))
        if not is_right(len(one.causes)):
            print(f"  {one}", flush=True)
    print(f"{right} of {total} {text}", flush=True)


if __name__ == "__main__":
    main()
