"""Threads that run as they like are waited for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from fscontract.contract.concurrency.execution import ScheduleRunner, _FreeRun
from fscontract.contract.concurrency.schedule import Schedule
from fscontract.contract.program.outcome import returned
from fscontract.contract.program.program import Step


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
    assert run.supervise(60.0, 2) == []
    assert run.outcomes == [[outcome], [outcome]]
    threads[1].join()


def test_threads_that_run_alone_meet_nobody_however_long_a_call_takes(
    make_binding: Callable[[str], Any],
) -> None:
    """A call to a store that is far away looks like one that waits for another thread."""
    binding = make_binding("slow")
    runner = ScheduleRunner(binding, lambda _: None, 4096, 5.0)
    read = Step("pread", (0, 4, 0, 4))
    execution = runner.run_alone(Schedule(48, ((read, read), (read,))))
    runner.close()
    (stream,) = binding.filesystem.opened
    assert stream.most == 1
    assert [len(outcomes) for outcomes in execution.outcomes] == [2, 1]
    assert not execution.hang
    assert runner.schedules == 0
