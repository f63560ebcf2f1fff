"""docs/reference/python-api.md lists the public names."""

from __future__ import annotations

from tests.docs.pages import hold, hold_widths
from tests.docs.python_api import api_reference


def test_page_has_the_current_names() -> None:
    """`UPDATE_DOCS=1` writes them."""
    hold("reference/python-api.md", api_reference(), "names")


def test_every_row_has_the_columns_of_its_heading() -> None:
    hold_widths(api_reference())
