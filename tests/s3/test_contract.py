"""The contract of the stream on every server, as `fscontract check s3` judges it."""

from __future__ import annotations

import pytest

from fscontract.contract.runner.result import Verdict
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings
from fscontract.contract.spec.clauses import select
from fscontract.contract.spec.profiles import load_profile
from fscontract.implementations.s3.moto_target import s3
from servers.s3.signed import Server


@pytest.mark.usefixtures("programs")
def test_the_contract_holds(server: Server, bucket: str) -> None:
    """Ends, positions and vectored reads are what servers differ in."""
    binding = s3(
        {
            "bucket": bucket,
            "endpoint": server.url,
            "access_key": server.access_key,
            "secret_key": server.secret_key,
            "region": server.region,
        }
    )
    chosen = tuple(c for c in select(("seek.*", "read-vectored.eof*", "pread.eof")) if c.testable)
    result = check(binding, Settings(load_profile("s3"), chosen))
    bad = (Verdict.FAIL, Verdict.HANG, Verdict.LAX, Verdict.ERROR)
    found = {c.clause.id: str(c.counterexample) for c in result.clauses if c.outcome in bad}
    assert found == {}
    assert not result.warnings
