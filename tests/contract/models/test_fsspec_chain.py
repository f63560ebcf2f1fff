"""Rules of fsspec's filesystems in front of others."""

from __future__ import annotations

import pytest

from fscontract.contract.program.filesystem_calls import CHAIN_CONTENT, FIRST_READS
from fscontract.contract.program.outcome import Kind
from tests.contract.models.without_stream_calls import judged


def test_cache_that_checks_files_reads_the_new_bytes() -> None:
    assert judged("fs_chain_checked", "longer", gives="new").failure is None
    for wrong in ("old", "neither"):
        failure = judged("fs_chain_checked", "longer", gives=wrong).failure
        assert failure is not None
        assert failure.clause == "chain.checked.changed"


def test_cache_that_checks_nothing_may_have_either_version() -> None:
    for right in ("old", "new"):
        assert judged("fs_chain_unchecked", "shorter", gives=right).missed == ()
    missed = judged("fs_chain_unchecked", "shorter", gives="neither").missed
    assert missed == ("chain.unchecked.one-version",)


def test_expired_copy_is_not_read() -> None:
    assert judged("fs_chain_expired", "longer", gives="new").failure is None
    for wrong in ("old", "neither"):
        failure = judged("fs_chain_expired", "longer", gives=wrong).failure
        assert failure is not None
        assert failure.clause == "chain.expired.changed"


@pytest.mark.parametrize("method", FIRST_READS)
def test_first_read_returns_the_bytes_of_the_file(method: str) -> None:
    assert judged(f"fs_chain_first_{method}", gives=CHAIN_CONTENT).failure is None
    failure = judged(f"fs_chain_first_{method}", gives=b"").failure
    assert failure is not None
    assert failure.clause == "chain.first-read"


def test_deleted_file_raises_file_not_found() -> None:
    assert judged("fs_chain_deleted", raises=Kind.NOT_FOUND).missed == ()
    assert judged("fs_chain_deleted", gives=b"a").missed == ("chain.checked.deleted",)


def test_directory_reads_what_is_below() -> None:
    assert judged("fs_chain_directory", gives=CHAIN_CONTENT).failure is None
    assert judged("fs_chain_directory", gives=b"x").failure is not None


def test_a_second_thread_reads_the_whole_file() -> None:
    assert judged("fs_chain_threads", gives=CHAIN_CONTENT).failure is None
    for wrong in (CHAIN_CONTENT[:4], b""):
        failure = judged("fs_chain_threads", gives=wrong).failure
        assert failure is not None
        assert failure.clause == "chain.simplecache.threads"


def test_a_second_thread_of_another_cache_should_read_the_whole_file() -> None:
    assert judged("fs_chain_cache_threads", gives=CHAIN_CONTENT).missed == ()
    for wrong in (CHAIN_CONTENT[:4], b""):
        assert judged("fs_chain_cache_threads", gives=wrong).missed == ("chain.threads",)
    assert judged("fs_chain_cache_threads", raises=Kind.IO).missed == ("chain.threads",)
