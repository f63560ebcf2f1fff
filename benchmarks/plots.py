"""Draw tables of docs/explanation/benchmarks.md as SVG: `python -m benchmarks.plots`.

A plot has a row for each way of the table, and its value on a logarithmic axis. A curve has a line
for each column of a table of `benchmarks.growth`, over the sizes in the first one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import NamedTuple

from benchmarks.growth.subjects import SUBJECTS

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "explanation" / "benchmarks.md"
FOLDER = ROOT / "docs" / "images"


class Plot(NamedTuple):
    """A plot of one column of the table below a heading of the page."""

    name: str
    heading: str
    column: str
    #: Meaning of the axis, with its unit.
    axis: str

    @property
    def path(self) -> Path:
        """The file of the plot."""
        return FOLDER / f"{self.name}.svg"


PLOTS = (
    Plot(
        "s3-positioned-reads",
        "100 random positioned reads of 4 KiB, one after the other",
        "direct ms",
        "ms, without latency",
    ),
    Plot(
        "s3-near-ranges",
        "100 ranges of 4 KiB at once, one every 64 KiB",
        "20 ms ms",
        "ms, with 20 ms of latency",
    ),
    Plot(
        "s3-sequential",
        "64 MiB sequentially, 64 KiB at a time",
        "20 ms ms",
        "ms, with 20 ms of latency",
    ),
    Plot(
        "spark-strings",
        "`sum(length(value))` of strings, local[2]",
        "MB per second",
        "MB per second",
    ),
)


class Curve(NamedTuple):
    """The growth in the table below a heading of the page."""

    name: str
    heading: str
    #: What the sizes count.
    axis: str

    @property
    def path(self) -> Path:
        """The file of the curve."""
        return FOLDER / f"growth-{self.name}.svg"


CURVES = tuple(Curve(subject.name, subject.title, subject.unit) for subject in SUBJECTS)

_LABELS, _WIDTH, _ROW, _TOP, _BOTTOM = 250, 470, 22, 12, 40
_STYLE = """
text { font: 13px sans-serif; fill: #222 } .tick { stroke: #ddd } .axis { fill: #666 }
circle { fill: #888 } .ours { fill: #3949ab } text.ours { font-weight: 600 }
.line, .curve { fill: none } .line { stroke: #bbb; stroke-dasharray: 4 4 }
.curve { stroke: #888; stroke-width: 2 } .ours.curve { stroke: #3949ab; fill: none }
@media (prefers-color-scheme: dark) {
text { fill: #ddd } .tick { stroke: #444 } .axis { fill: #aaa } .ours { fill: #9fa8da }
.ours.curve { stroke: #9fa8da; fill: none } .line { stroke: #555 } }
"""


def main() -> None:
    """Write all plots."""
    page = PAGE.read_text(encoding="utf-8")
    for plot in PLOTS:
        plot.path.write_text(drawn(plot, page), encoding="utf-8")
        print(plot.path.relative_to(ROOT))
    for curve in CURVES:
        curve.path.write_text(grown(curve, page), encoding="utf-8")
        print(curve.path.relative_to(ROOT))


def drawn(plot: Plot, page: str) -> str:
    """Return the plot as SVG. Raise ValueError if the page has no such table or column."""
    values = _values(plot, page)
    low = math.floor(math.log10(min(values.values())))
    high = math.ceil(math.log10(max(values.values())))
    height = _TOP + _ROW * len(values) + _BOTTOM

    def x(value: float) -> float:
        return round(_LABELS + _WIDTH * (math.log10(value) - low) / max(high - low, 1), 1)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LABELS + _WIDTH + 70} {height}" '
        f'role="img" aria-label="{escape(plot.heading)}: {escape(plot.axis)}">',
        f"<style>{_STYLE}</style>",
    ]
    for power in range(low, high + 1):
        at = x(10.0**power)
        lines.append(f'<path class="tick" d="M{at} {_TOP}V{height - _BOTTOM}"/>')
        lines.append(_text(at, height - _BOTTOM + 16, f"{10.0**power:,.10g}", "axis", "middle"))
    lines.append(_text(_LABELS + _WIDTH / 2, height - 6, plot.axis, "axis", "middle"))
    for number, (name, value) in enumerate(values.items()):
        at = _TOP + _ROW * number + _ROW / 2
        kind = "ours" if name.startswith("fscontract") else "other"
        lines.append(_text(_LABELS - 10, at + 4, name, kind, "end"))
        lines.append(f'<circle class="{kind}" cx="{x(value)}" cy="{at}" r="5"/>')
        lines.append(_text(x(value) + 10, at + 4, f"{value:,.10g}", kind, "start"))
    return "\n".join([*lines, "</svg>", ""])


#: Margins of a curve, and its size, in pixels.
_LEFT, _RIGHT, _HEIGHT = 70, 190, 240


def grown(curve: Curve, page: str) -> str:
    """Return the curve as SVG, with logarithmic axes. Raise ValueError without its table."""
    head, *rows = _rows(curve.heading, page)
    sizes = [_number(row[0]) for row in rows]
    columns = {name: [_number(row[at]) for row in rows] for at, name in enumerate(head) if at}
    times = [time for column in columns.values() for time in column]
    height = _TOP + _HEIGHT + _BOTTOM
    across = _scale(min(sizes), max(sizes), _LEFT, _LEFT + _WIDTH)
    up = _scale(min(times), max(times), _TOP + _HEIGHT, _TOP)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _WIDTH + _RIGHT} {height}" '
        f'role="img" aria-label="{escape(curve.heading)}: ms by {escape(curve.axis)}">',
        f"<style>{_STYLE}</style>",
    ]
    for size in sizes:
        lines.append(_text(across(size), height - _BOTTOM + 16, f"{size:,g}", "axis", "middle"))
    lines.append(_text(_LEFT + _WIDTH / 2, height - 6, curve.axis, "axis", "middle"))
    for power in range(math.ceil(math.log10(min(times))), math.ceil(math.log10(max(times)))):
        at = up(10.0**power)
        lines.append(f'<path class="tick" d="M{_LEFT} {at}H{_LEFT + _WIDTH}"/>')
        lines.append(_text(_LEFT - 8, at + 4, f"{10.0**power:,g} ms", "axis", "end"))
    labels: list[float] = []
    for name, column in sorted(columns.items(), key=lambda named: -named[1][-1]):
        kind = {"fscontract": "ours", "straight line": "line"}.get(name, "other")
        marks = [f"{across(size)} {up(time)}" for size, time in zip(sizes, column, strict=True)]
        shape = "line" if kind == "line" else f"{kind} curve"
        lines.append(f'<path class="{shape}" d="M{"L".join(marks)}"/>')
        at = up(column[-1]) + 4
        while any(abs(at - other) < _LABEL for other in labels):
            at += _LABEL
        labels.append(at)
        lines.append(_text(_LEFT + _WIDTH + 8, at, name, kind if kind == "ours" else "", "start"))
    return "\n".join([*lines, "</svg>", ""])


#: The least distance of labels, in pixels.
_LABEL = 15


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """Return the place of a value on a logarithmic axis."""
    span = math.log10(high) - math.log10(low) or 1.0

    def place(value: float) -> float:
        return round(start + (end - start) * (math.log10(value) - math.log10(low)) / span, 1)

    return place


def _text(x: float, y: float, text: str, kind: str, anchor: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def _values(plot: Plot, page: str) -> dict[str, float]:
    """Return the value of each row of the table, in its order."""
    head, *rows = _rows(plot.heading, page, plot.column)
    column = head.index(plot.column)
    return {row[0]: _number(row[column]) for row in rows}


def _number(cell: str) -> float:
    return float(cell.strip("*").replace(",", ""))


def _rows(heading: str, page: str, column: str = "") -> list[list[str]]:
    """Return the cells of the table below a heading; ValueError without it, or that column."""
    _, found, section = page.partition(f"# {heading}\n")
    rows = [_cells(line) for line in section.partition("\n#")[0].splitlines() if line[:1] == "|"]
    if not found or not rows or (column and column not in rows[0]):
        raise ValueError(f"no table with a column {column!r} below {heading!r}")
    return [rows[0], *rows[2:]]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


if __name__ == "__main__":
    main()
