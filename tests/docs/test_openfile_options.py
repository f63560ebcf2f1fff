"""docs/reference/openfile-options.md has the table that the code goes by."""

from __future__ import annotations

from fscontract.contract.api.openfile_options import option_table
from tests.docs.generated_pages import option_tables
from tests.docs.pages import hold, hold_widths


def test_the_page_has_the_present_table() -> None:
    """`UPDATE_DOCS=1` writes it."""
    hold("reference/openfile-options.md", option_tables(option_table()))


def test_every_row_of_a_table_has_the_columns_of_its_heading() -> None:
    """No value holds a bar or a line break."""
    hold_widths(option_tables(option_table()))
