"""Rows as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.s3.measure import Row

_METHODS = ("HEAD", "GET")


def table(title: str, rows: Sequence[Row], places: Sequence[str], base: str) -> str:
    """Return the table of a case: requests, bytes, times in ms, and times relative to `base`.

    The best value of a column is bold.
    """
    columns = ["", *_METHODS, "MB", "CPU ms", *_heads(places)]
    lines = [f"### {title}", "", _line(columns), _line(["---", *["---:"] * (len(columns) - 1)])]
    done = [row for row in rows if not row.failed]
    best = {place: min((m for m in _medians(done, place)), default=None) for place in places}
    bases = {place: _of(done, base, place) for place in places}
    for row in rows:
        if row.failed:
            lines.append(_line([row.name, "fails:", row.failed.replace("|", "/").split("\n")[0]]))
            continue
        cells = [row.name, *(_requests(row, method) for method in _METHODS)]
        cells += [f"{row.received / 1e6:.2f}", _ms(row.median_processor(places[0]))]
        for place in places:
            cells += _time(row.median(place), best[place], bases[place])
        lines.append(_line(cells))
    return "\n".join(lines) + "\n"


def _medians(rows: Iterable[Row], place: str) -> list[float]:
    return [median for row in rows if (median := row.median(place)) is not None]


def _of(rows: Iterable[Row], name: str, place: str) -> float | None:
    return next((row.median(place) for row in rows if row.name == name), None)


def _requests(row: Row, method: str) -> str:
    count = row.requests.get(method, 0)
    others = {name: n for name, n in row.requests.items() if name not in _METHODS}
    if method == "GET" and others:
        return f"{count} and {others}"
    return str(count)


def _time(median: float | None, best: float | None, base: float | None) -> list[str]:
    if median is None:
        return ["", ""]
    text = _ms(median)
    return [f"**{text}**" if median == best else text, f"{median / base:.2f}" if base else ""]


def _ms(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds * 1000:.1f}" if seconds < 0.1 else f"{seconds * 1000:.0f}"


def _heads(places: Iterable[str]) -> list[str]:
    return [head for place in places for head in (f"{place} ms", "x")]


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"
