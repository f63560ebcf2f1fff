"""Clause ids are permanent: an id of an earlier release is a clause or has an entry under
`retired`."""

from __future__ import annotations

import os
from pathlib import Path

import fscontract
from fscontract.contract.spec.clauses import clauses, retired

#: Every id that a release had, after the version for which the list was last made.
LIST = Path(__file__).with_name("ids.txt")
_HINT = "UPDATE_DOCS=1 python -m pytest tests/specs/test_ids.py adds new ids to the list"


def _listed() -> tuple[str, list[str]]:
    version, *ids = LIST.read_text(encoding="utf-8").split()
    return version, ids


def _updated() -> None:
    ids = dict.fromkeys([*_listed()[1], *clauses()])
    LIST.write_text("\n".join([fscontract.__version__, *ids, ""]), encoding="utf-8")


def test_ids_of_earlier_releases_are_clauses_or_retired() -> None:
    if os.environ.get("UPDATE_DOCS"):
        _updated()
    lost = set(_listed()[1]) - clauses().keys() - retired().keys()
    assert not lost, "what became of these? say so under 'retired' (docs/explanation/stability.md)"


def test_list_of_ids_is_of_the_current_version() -> None:
    assert _listed()[0] == fscontract.__version__, _HINT


def test_retired_ids_are_no_clauses_and_name_existing_ones() -> None:
    assert not retired().keys() & clauses().keys()
    assert {name for one in retired().values() for name in one.instead} <= clauses().keys()
