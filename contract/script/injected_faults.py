"""Write calls of which a request fails as a Python script.

Whatever fails, a call returns the bytes of the file or raises OSError. The requests of a file of
fsspec are those of its cache, which the script makes fail; a filesystem with an `injector`, which
needs this package in any case, gets the plan of faults.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fscontract.contract.program.fault_kinds import MOST_REQUESTS
from fscontract.contract.program.faults import Fault
from fscontract.contract.program.program import Step
from fscontract.contract.script.calls import Form, NoScript, ScriptApi, Source
from fscontract.contract.script.data import content_lines
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.frame import EXIT, assembled, set_up
from fscontract.contract.script.layout import indented, literal, statement
from fscontract.contract.script.plan import plan
from fscontract.contract.script.sequential import SequentialScript, or_raised

#: Calls that make no requests, so that no fault strikes them.
_QUIET = frozenset({"seek", "get_pos", "py_seek", "py_tell"})
#: The keys of a fault that a script can aim: by the numbers of requests, and by their offsets.
_AIM = frozenset({"kind", "nth", "times", "operation", "offset"})
#: The errors of faults before a file of fsspec. A deleted or forbidden file stays so.
_ERRORS = {
    "reset": "ECONNRESET",
    "timeout": "ETIMEDOUT",
    "throttle": "EBUSY",
    "descriptors": "EMFILE",
    "delete": "ENOENT",
    "revoke": "EACCES",
}
_LASTING = frozenset({"delete", "revoke"})


def injected_fault_script(api: ScriptApi, source: Source, failure: Failure) -> str:
    """Return the script of a failure under a plan of faults; raise NoScript with the reason."""
    faults, program = failure.program.faults, failure.program
    assert faults is not None
    if program.streams > 1:
        raise NoScript("requests of several streams fail")
    if failure.clause == "fault.close":
        program = replace(program, steps=(*program.steps, Step("close")))
    if any(step.op not in _QUIET for step in program.steps[:-1]):
        raise NoScript("a call before the last one may fail, and then several results are right")
    bare = replace(failure, program=replace(program, faults=None))
    planned = plan(failure.clause, bare.program, failure.features, failure.buffer, None)
    script = _FaultScript(api, source, bare, planned)
    if script.call is None or script.call.form is Form.PARTS or "fs." in str(script.call):
        raise NoScript("the last call is not one of a file with one result")
    if api.injector:
        armed = (
            f"plan = FaultPlan.loads({literal(faults.dumps())})",
            f"{api.injector}.attach(plan)",
        )
        return script.under_faults(("from fscontract.fakes import FaultPlan",), armed, ())
    (fault, *others) = faults.faults
    if others or fault.kind not in _ERRORS or not fault.to_json().keys() <= _AIM:
        raise NoScript(f"the fault {fault.kind} needs more than one request that fails")
    return script.under_faults((), (), tuple(_failing(api.fetcher, fault)))


class _FaultScript(SequentialScript):
    """Calls, of which the last one may also raise OSError."""

    def under_faults(
        self, imports: tuple[str, ...], armed: tuple[str, ...], opened: tuple[str, ...]
    ) -> str:
        """Return the script; `armed` is before the file is opened, and `opened` after that."""
        opening, *before = self.calls_before()
        made = [*self.file_made(), *imports, *armed, opening, *opened, *before]
        lines = [
            *set_up([*made, *self.buffer_made()]),
            "try:",
            *indented(self.last()),
            "except Exception as error:",
            "    actual = error",
            *self._right(),
            *self.shown(),
            *(line for one in self.api.cleanup for line in statement(one)),
            EXIT,
        ]
        data = content_lines(self.plan.versions, None)
        return assembled(self.failure, data, lines)

    def _right(self) -> Iterator[str]:
        if self.failure.clause == "fault.close":
            yield "right = not isinstance(actual, Exception)"
            return
        yield from or_raised(self.right(), "OSError")


def _failing(fetcher: str, fault: Fault) -> Iterator[str]:
    """Yield the statements that replace the function that fetches bytes for the file `f`.

    The open is the first request, unless the fault is aimed at those of bytes.
    """
    aimed = fault.offset is not None or fault.operation in ("get", ("get",))
    if fault.operation is not None and not aimed:
        raise NoScript("the fault strikes other requests than those of bytes")
    first = fault.nth - (0 if aimed else 1)
    if first < 1:
        raise NoScript("the open fails, so that no call of the file does")
    struck = f"len(requests) >= {first}"
    if fault.kind not in _LASTING and fault.last < MOST_REQUESTS:
        last = fault.last - (0 if aimed else 1)
        several = f"in range({first}, {last + 1})"
        struck = f"len(requests) {f'== {first}' if first == last else several}"
    yield f"fetch, requests = {fetcher}, []"
    yield ""
    yield "def failing(start, end):"
    if fault.offset is None:
        yield "    requests.append(start)"
        yield f"    if {struck}:  # {fault.kind}"
    else:
        assert isinstance(fault.offset, tuple)
        start, end = fault.offset
        inside = f"start >= {start}" if end is None else f"{start} <= start < {end}"
        yield f"    requests.extend([start] if {inside} else [])"
        yield f"    if {inside} and {struck}:  # {fault.kind}"
    number = f"errno.{_ERRORS[fault.kind]}"
    yield f"        raise OSError({number}, os.strerror({number}))"
    yield "    return fetch(start, end)"
    yield ""
    yield f"{fetcher} = failing"
