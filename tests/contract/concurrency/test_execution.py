"""Free threads, and threads that run one after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from fscontract.contract.concurrency.execution import ScheduleRunner, _FreeRun
from fscontract.contract.concurrency.schedule import Schedule
from fscontract.contract.program.outcome import returned
from fscontract.contract.program.program import Step


def test_supervision_waits_for_every_thread_even_if_one_ended_before() -> None:
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


def test_threads_that_run_alone_never_overlap_even_in_slow_calls(
    make_binding: Callable[[str], Any],
) -> None:
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
