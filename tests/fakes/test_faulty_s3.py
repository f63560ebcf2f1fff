"""S3 behind the proxy: costs by its count, and every kind of fault that HTTP has."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from inline_snapshot import snapshot

from fscontract.contract.api.iostatistics import ACTION_HTTP_GET_REQUEST, STORE_IO_REQUEST
from fscontract.contract.binding import PlanInjector
from fscontract.contract.generate import fault_programs
from fscontract.contract.program.faults import FAULTS, Fault, FaultPlan
from fscontract.contract.runner.result import Verdict
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings
from fscontract.contract.spec.clauses import select
from fscontract.contract.spec.profiles import load_profile
from fscontract.fakes.faulty_s3 import FaultyS3Binding, s3
from fscontract.implementations.s3 import read_ahead
from fscontract.implementations.s3.input_stream import S3InputStream


@pytest.fixture
def binding() -> Iterator[FaultyS3Binding]:
    """The store, ready to be used."""
    binding = FaultyS3Binding({})
    binding.prepare()
    yield binding
    binding.dispose()


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(
    ("transport", "patterns"),
    [
        ("obstore", ("open.cost-*", "open.footer-*")),
        ("boto3", ("open.cost-status", "open.cost-pread")),
    ],
)
def test_the_costs_hold_by_the_count_of_the_proxy(
    transport: str, patterns: tuple[str, ...]
) -> None:
    """Not by the statistics of the streams themselves."""
    chosen = tuple(c for c in select(patterns) if c.testable)
    result = check(s3({"transport": transport}), Settings(load_profile("s3"), chosen))
    found = {c.clause.id: c.outcome for c in result.clauses}
    assert found["open.cost-status"] is found["open.cost-pread"] is Verdict.PASS
    assert set(found.values()) == {Verdict.PASS}


def test_a_fault_that_strikes_nothing_shows_the_requests_of_the_store(
    binding: FaultyS3Binding,
) -> None:
    """With the object and the range of each."""
    assert isinstance(binding.injector, PlanInjector)
    path, plans_seen = binding.create(b"x" * 100), binding.injector.watch()
    with (
        binding.injector.attached(FaultPlan((Fault("reset", 1), Fault("short", 99)))),
        binding.filesystem.open_file(path).build().result() as stream,
    ):
        stream.read_fully(10, bytearray(20))
    (firing,) = plans_seen
    assert firing.unstruck == (Fault("short", 99),)
    assert firing.why(Fault("short", 99)) == snapshot("only 2 requests matched, get")
    shown = str(firing.seen[-1])
    assert shown.startswith(f"{firing.requests} get /")
    assert path.rpartition("/")[2] in shown
    assert " bytes from " in shown


def test_the_streams_count_as_the_proxy_does(binding: FaultyS3Binding) -> None:
    """Retries included."""
    path = binding.create(b"x" * 300_000)
    opener = binding.opener
    assert opener is not None
    before = opener.counters(None)[ACTION_HTTP_GET_REQUEST]
    with (
        binding.injector.attached(FaultPlan((Fault("reset", 2),))),  # type: ignore[union-attr]
        binding.filesystem.open_file(path).build().result() as stream,
    ):
        for position in (0, 100_000, 250_000):
            stream.pread(position, bytearray(10))
        own = stream.io_statistics()[ACTION_HTTP_GET_REQUEST]
    assert own == opener.counters(None)[ACTION_HTTP_GET_REQUEST] - before == 4


def test_it_can_do_what_http_can_but_spoil_bytes_that_nobody_sums_up(
    binding: FaultyS3Binding,
) -> None:
    assert binding.injector is not None
    of_http = {name for name, kind in FAULTS.items() if "http" in kind.places}
    assert binding.injector.kinds == of_http - {"corrupt"}


def test_a_stream_that_hides_its_requests_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte a request, and statistics that say nothing of it."""
    honest = S3InputStream.io_statistics

    def hiding(stream: S3InputStream) -> dict[str, int]:
        return {**honest(stream), ACTION_HTTP_GET_REQUEST: 0, STORE_IO_REQUEST: 0}

    monkeypatch.setattr(S3InputStream, "io_statistics", hiding)
    monkeypatch.setitem(read_ahead.PLANS, "default", read_ahead.Plan(first=1))
    chosen = tuple(c for c in select(("open.cost-buffered",)) if c.testable)
    (found,) = check(s3({}), Settings(load_profile("s3"), chosen)).clauses
    assert found.outcome is Verdict.LAX


#: What this few programs exercise; `fault.clean`, `fault.data` and `fault.end` take more of them.
SAMPLED = {
    f"fault.{name}"
    for name in (
        *("open", "position", "next", "close", "release"),
        *("retries", "hang", "isolated", "preads"),
    )
}


def test_a_sample_of_the_programs_with_faults_conforms(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them are for `tox -e deep`."""
    monkeypatch.setitem(fault_programs.REMOTE, "quick", 25)
    chosen = tuple(c for c in select(("fault.*",)) if c.testable)
    result = check(s3({}), Settings(load_profile("s3"), chosen, faults="quick"))
    found = {c.clause.id: c.outcome for c in result.clauses}
    assert {name for name, outcome in found.items() if outcome is Verdict.PASS} >= SAMPLED
    assert set(found.values()) <= {Verdict.PASS, Verdict.UNEXERCISED}
