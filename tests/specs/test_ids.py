"""Ids of clauses are for ever: what had one once has it still, or says what became of it."""

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


def test_no_id_is_lost() -> None:
    """A clause that is renamed or withdrawn leaves an entry under `retired` in its document."""
    if os.environ.get("UPDATE_DOCS"):
        _updated()
    lost = set(_listed()[1]) - clauses().keys() - retired().keys()
    assert not lost, "what became of these? say so under 'retired' (docs/versioning.md)"


def test_the_ids_of_a_release_are_on_record() -> None:
    """The list is made anew for each version."""
    assert _listed()[0] == fscontract.__version__, _HINT


def test_no_id_is_used_again() -> None:
    """An id of old is no clause, and what is to be used instead is one."""
    assert not retired().keys() & clauses().keys()
    assert {name for one in retired().values() for name in one.instead} <= clauses().keys()
