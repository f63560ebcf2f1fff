"""The plots of the page of benchmarks show its tables."""

from __future__ import annotations

import os
from xml.etree import ElementTree

import pytest

from benchmarks.plots import CURVES, PAGE, PLOTS, Curve, Plot, drawn, grown

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


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_each_curve_is_drawn_from_the_table_and_shown_on_the_page(curve: Curve) -> None:
    page = PAGE.read_text(encoding="utf-8")
    if os.environ.get("UPDATE_DOCS"):
        curve.path.write_text(grown(curve, page), encoding="utf-8")
    assert curve.path.read_text(encoding="utf-8") == grown(curve, page)
    assert f"](../images/{curve.path.name})" in page


GROWTH = """
### Tasks

| tasks | fscontract | peer | straight line |
| ---: | ---: | ---: | ---: |
| 1 | 2 | 1 | 2 |
| 10 | 200 | 10 | 20 |
| 100 | 20,000 | 100 | 200 |
"""


def test_on_a_curve_a_straight_line_is_straight_and_a_square_twice_as_steep() -> None:
    image = ElementTree.fromstring(grown(Curve("tasks", "Tasks", "tasks"), GROWTH))
    paths = [path.attrib for path in image.iter(f"{SVG}path") if path.attrib["class"] != "tick"]
    drops = {}
    for path in paths:
        places = [tuple(map(float, place.split())) for place in path["d"].strip("M").split("L")]
        (first, second, third) = (y for _, y in places)
        assert first - second == pytest.approx(second - third, abs=0.2)
        drops[path["class"]] = first - second
    assert drops["ours curve"] == pytest.approx(2 * drops["line"], abs=0.3)
    assert drops["other curve"] == pytest.approx(drops["line"], abs=0.3)


def test_a_table_that_is_missing_is_named() -> None:
    with pytest.raises(ValueError, match="no table with a column 's' below 'Reads'"):
        drawn(Plot("reads", "Reads", "s", "s"), TABLE)
