"""Threads that run as they like are waited for."""

from __future__ import annotations

import threading

from fscontract.contract.outcome import returned
from fscontract.contract.suite.concurrency.trial import _FreeRun


def test_a_thread_that_ended_before_anybody_waited_does_not_stand_for_another() -> None:
    """Or outcomes would be judged while they are still coming."""
    go_on = threading.Event()
    outcome = returned(1)

    def slow() -> object:
        go_on.wait()
        return outcome

    calls = [[lambda: outcome], [slow]]
    run = _FreeRun(calls)  # type: ignore[arg-type]
    threads = [threading.Thread(target=run.perform, args=(me, calls[me])) for me in range(2)]
    for thread in threads:
        thread.start()
    threads[0].join()
    threading.Timer(0.05, go_on.set).start()
    assert run.supervise(60.0) == []
    assert run.outcomes == [[outcome], [outcome]]
    threads[1].join()
