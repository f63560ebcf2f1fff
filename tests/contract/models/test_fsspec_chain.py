"""Rules of fsspec's filesystems in front of others."""

from __future__ import annotations

from typing import Any

from fscontract.contract.models.acceptor import judge_all
from fscontract.contract.models.stream_state import Judgement, opened
from fscontract.contract.program.filesystem_calls import CHAIN_CONTENT
from fscontract.contract.program.outcome import Kind, Outcome, returned


def _judged(op: str, *args: Any, gives: Any = None, raises: Kind | None = None) -> Judgement:
    outcome = returned(gives) if raises is None else Outcome(raises)
    return judge_all(op, args, (opened(b"a"),), frozenset({"fsspec-filesystem"}), outcome)


def test_cache_that_checks_files_reads_the_new_bytes() -> None:
    assert _judged("fs_chain_checked", "longer", gives="new").failure is None
    for wrong in ("old", "neither"):
        failure = _judged("fs_chain_checked", "longer", gives=wrong).failure
        assert failure is not None
        assert failure.clause == "chain.checked.changed"


def test_cache_that_checks_nothing_may_have_either_version() -> None:
    for right in ("old", "new"):
        assert _judged("fs_chain_unchecked", "shorter", gives=right).missed == ()
    missed = _judged("fs_chain_unchecked", "shorter", gives="neither").missed
    assert missed == ("chain.unchecked.one-version",)


def test_deleted_file_raises_file_not_found() -> None:
    assert _judged("fs_chain_deleted", raises=Kind.NOT_FOUND).missed == ()
    assert _judged("fs_chain_deleted", gives=b"a").missed == ("chain.checked.deleted",)


def test_directory_reads_what_is_below() -> None:
    assert _judged("fs_chain_directory", gives=CHAIN_CONTENT).failure is None
    assert _judged("fs_chain_directory", gives=b"x").failure is not None
