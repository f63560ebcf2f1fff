"""Render runs as JSON: an object for each target, in the shape of `specs/report.schema.json`."""

from __future__ import annotations

from collections.abc import Sequence

from fscontract.contract.runner.result import Entry, json_text


def render(entries: Sequence[Entry]) -> str:
    """Return an object for one target, a list of objects for several; ends with a newline."""
    data = [entry.to_dict() for entry in entries]
    return json_text(data[0] if len(data) == 1 else data)
