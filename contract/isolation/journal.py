"""The journal in shared memory, which the parent reads after a crash of the child."""

from __future__ import annotations

import json
import mmap
import os
import tempfile
from typing import Any, ClassVar

from fscontract.contract.concurrency.schedule import Schedule
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.crashes import CurrentScenario, Journal, StepIndex

#: Bytes for the numbers at the start, and in total. Memory pages without writes take no space.
_HEAD = 64
_SIZE = 1 << 22
#: Number of steps whose text is cached. Sources of programs reuse the same objects.
_MOST_STEPS = 100_000


def shared_file() -> int:
    """Return the descriptor of an unnamed file with the size of a journal."""
    if hasattr(os, "memfd_create"):
        number: int = os.memfd_create("fscontract")
    else:
        with tempfile.TemporaryFile() as file:
            number = os.dup(file.fileno())
    os.ftruncate(number, _SIZE)
    return number


class SharedJournal(Journal):
    """A journal in the file of this descriptor; an entry takes about a microsecond."""

    restarts: ClassVar[bool] = True

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap.mmap(descriptor, _SIZE)
        numbers = memoryview(self._memory)[:_HEAD].cast("q")
        self._length, self._done = numbers[0:1], numbers[1:2]
        self.step_index: StepIndex = numbers[2:3]
        self._unheard, self._beats, self._limit = numbers[3:4], numbers[4:5], numbers[5:6]
        self._texts: dict[int, tuple[Step, bytes]] = {}

    @property
    def done(self) -> int:
        """The number of programs of the phase that have been run."""
        return self._done[0]

    @done.setter
    def done(self, done: int) -> None:
        self._done[0] = done

    @property
    def beats(self) -> int:
        """How often the watchdog looked at what runs now; 0 while it does not."""
        return self._beats[0]

    @beats.setter
    def beats(self, beats: int) -> None:
        self._beats[0] = beats

    @property
    def limit(self) -> float:
        """How many seconds a call may take before it counts as hanging, to the millisecond."""
        return self._limit[0] / 1000

    @limit.setter
    def limit(self, limit: float) -> None:
        self._limit[0] = round(limit * 1000)

    @property
    def unheard(self) -> bool:
        """True if the process ended because it lost its connection to the parent."""
        return bool(self._unheard[0])

    @unheard.setter
    def unheard(self, unheard: bool) -> None:
        self._unheard[0] = unheard

    def begin(self, item: object) -> None:
        """Record the program, schedule or scenario that is about to run; ignore other items."""
        text = self._text(item)
        self._length[0] = 0  # a partial entry must not be readable
        if len(text) <= _SIZE - _HEAD:
            self._memory[_HEAD : _HEAD + len(text)] = text
            self._length[0] = len(text)

    def item(self) -> Program | Schedule | CurrentScenario | None:
        """Return the item that was begun last."""
        text = self._memory[_HEAD : _HEAD + self._length[0]]
        if not text:
            return None
        data: Any = json.loads(text)
        if "scenario" in data:
            return CurrentScenario(data["scenario"], data["clause"], data["label"])
        return Schedule.from_json(data) if "threads" in data else Program.from_json(data)

    def clear(self) -> None:
        """Clear the journal for another process."""
        self._length[0] = self.step_index[0] = self._done[0] = self._unheard[0] = 0
        self._beats[0] = self._limit[0] = 0

    def _text(self, item: object) -> bytes:
        if isinstance(item, CurrentScenario):
            data = {"scenario": item.name, "clause": item.clause, "label": item.label}
            return json.dumps(data).encode()
        if isinstance(item, Program):
            if item.opening is not None or item.faults is not None:
                return item.dumps().encode()
            steps = b",".join([self._of_step(step) for step in item.steps])
            return b'{"length":%d,"streams":%d,"steps":[%b]}' % (item.length, item.streams, steps)
        return json.dumps(item.to_json()).encode() if isinstance(item, Schedule) else b""

    def _of_step(self, step: Step) -> bytes:
        known = self._texts.get(id(step))
        if known is not None and known[0] is step:
            return known[1]
        text = json.dumps(step.to_json()).encode()
        if len(self._texts) >= _MOST_STEPS:
            self._texts.clear()
        # the reference keeps the step alive, so that its id is not reused
        self._texts[id(step)] = step, text
        return text
