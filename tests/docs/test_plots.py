"""The plots of the page of benchmarks show its tables."""

from __future__ import annotations

import os
from xml.etree import ElementTree

import pytest

from benchmarks.plots import PAGE, PLOTS, Plot, drawn

TABLE = """
### Reads

text

|  | GET | ms |
| --- | ---: | ---: |
| fscontract, a<b | 1 | 20.5 |
| other | 2 | **1,000** |

### More

| ms |
"""
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.name)
def test_each_plot_is_drawn_from_the_table_and_shown_on_the_page(plot: Plot) -> None:
    page = PAGE.read_text(encoding="utf-8")
    if os.environ.get("UPDATE_DOCS"):
        plot.path.write_text(drawn(plot, page), encoding="utf-8")
    assert plot.path.read_text(encoding="utf-8") == drawn(plot, page)
    assert f"](../images/{plot.path.name})" in page


def test_a_plot_has_a_mark_and_the_value_of_each_row() -> None:
    image = ElementTree.fromstring(drawn(Plot("reads", "Reads", "ms", "ms"), TABLE))
    near, far = (float(mark.attrib["cx"]) for mark in image.iter(f"{SVG}circle"))
    assert near < far
    labels = [each.text for each in image.iter(f"{SVG}text")]
    assert labels[-4:] == ["fscontract, a<b", "20.5", "other", "1,000"]


def test_a_table_that_is_missing_is_named() -> None:
    with pytest.raises(ValueError, match="no table with a column 's' below 'Reads'"):
        drawn(Plot("reads", "Reads", "s", "s"), TABLE)
