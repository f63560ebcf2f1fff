"""Draw tables of docs/explanation/benchmarks.md as SVG: `python -m benchmarks.plots`.

A plot has a row for each way of the table, and its value on a logarithmic axis.
"""

from __future__ import annotations

import math
from html import escape
from pathlib import Path
from typing import NamedTuple

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

_LABELS, _WIDTH, _ROW, _TOP, _BOTTOM = 250, 470, 22, 12, 40
_STYLE = """
text { font: 13px sans-serif; fill: #222 } .tick { stroke: #ddd } .axis { fill: #666 }
circle { fill: #888 } .ours { fill: #3949ab } text.ours { font-weight: 600 }
@media (prefers-color-scheme: dark) {
text { fill: #ddd } .tick { stroke: #444 } .axis { fill: #aaa } .ours { fill: #9fa8da } }
"""


def main() -> None:
    """Write all plots."""
    page = PAGE.read_text(encoding="utf-8")
    for plot in PLOTS:
        plot.path.write_text(drawn(plot, page), encoding="utf-8")
        print(plot.path.relative_to(ROOT))


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


def _text(x: float, y: float, text: str, kind: str, anchor: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def _values(plot: Plot, page: str) -> dict[str, float]:
    """Return the value of each row of the table, in its order."""
    _, found, section = page.partition(f"# {plot.heading}\n")
    rows = [_cells(line) for line in section.partition("\n#")[0].splitlines() if line[:1] == "|"]
    if not found or not rows or plot.column not in rows[0]:
        raise ValueError(f"no table with a column {plot.column!r} below {plot.heading!r}")
    column = rows[0].index(plot.column)
    return {row[0]: float(row[column].strip("*").replace(",", "")) for row in rows[2:]}


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


if __name__ == "__main__":
    main()
