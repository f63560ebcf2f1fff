"""docs/how-to/fault-injection.md has the kinds of faults, and the outcomes of reads under each."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from fscontract.contract.binding import Binding
from fscontract.contract.program.faults import CHECKED, FAULTS
from fscontract.contract.spec.profiles import load_profile
from fscontract.fakes.faulty_local import local
from fscontract.fakes.filesystem.filesystem import fake
from tests.docs.generated_pages import Tally, fault_tables, tallies
from tests.docs.pages import hold, hold_widths

#: What differs by who runs the tests; and what takes an hour, since local reads have no deadline.
NOT_LOCAL = {"revoke", "hang"}


def _targets() -> Iterator[tuple[str, Binding, frozenset[str]]]:
    """The columns of the table: a name, a binding, and the kinds that are tried."""
    yield "`fake`", fake({}), CHECKED
    for title, options in (("`local`", {}), ("`local`, portable", {"strategy": "portable"})):
        yield title, local(options), CHECKED - NOT_LOCAL


@lru_cache(maxsize=1)
def _columns() -> dict[str, dict[str, Tally]]:
    found = {}
    for name, binding, kinds in _targets():
        profile = load_profile(binding.default_profile)
        found[name] = tallies(binding, profile, [kind for kind in FAULTS if kind in kinds])
    return found


def test_the_page_has_what_a_run_gives() -> None:
    """`UPDATE_DOCS=1` writes it."""
    hold("how-to/fault-injection.md", fault_tables(_columns()))


def test_no_clause_is_broken_by_any_fault() -> None:
    """The table would otherwise describe bugs; each kind strikes something."""
    for name, column in _columns().items():
        for kind, tally in column.items():
            assert tally.broken == 0, f"{name}: {kind}"
            assert tally.survived + tally.failed > 0, f"{name}: {kind}"


def test_every_row_has_the_columns_of_its_heading() -> None:
    """No sentence of a kind holds a bar or a line break."""
    hold_widths(fault_tables(_columns()))
