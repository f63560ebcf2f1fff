"""Write calls of which a request fails as a Python script.

Whatever fails, a call returns the bytes of the file or raises OSError. The requests of a file of
fsspec are those of its cache, which the script makes fail; a filesystem with an `injector`, which
needs this package in any case, gets the plan of faults.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fscontract.contract.program.faults import Fault
from fscontract.contract.program.program import Step
from fscontract.contract.script.calls import Form, NoScript, ScriptApi, Source
from fscontract.contract.script.data import content_lines
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.frame import EXIT, assembled, set_up
from fscontract.contract.script.layout import indented, literal, statement
from fscontract.contract.script.plan import plan
from fscontract.contract.script.sequential import SequentialScript

#: The most lines.
MAX_LINES = 60
#: Calls that make no requests, so that no fault strikes them.
_QUIET = frozenset({"seek", "get_pos", "py_seek", "py_tell"})
#: The keys of a fault that strikes requests by their numbers alone.
_AIM = frozenset({"kind", "nth", "times"})
#: The errors of faults before a file of fsspec.
_ERRORS = {
    "reset": "ECONNRESET",
    "timeout": "ETIMEDOUT",
    "throttle": "EBUSY",
    "descriptors": "EMFILE",
}


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
        return script.under_faults(("from fscontract.fakes import FaultPlan",), armed, (), ())
    (fault, *others) = faults.faults
    if others or fault.kind not in _ERRORS or not fault.to_json().keys() <= _AIM:
        raise NoScript(f"the fault {fault.kind} needs more than an error at one request")
    opened = (f"{api.fetcher} = failing({api.fetcher})",)
    return script.under_faults((), (), opened, tuple(_failing(fault)))


class _FaultScript(SequentialScript):
    """Calls, of which the last one may also raise OSError."""

    def under_faults(
        self,
        imports: tuple[str, ...],
        armed: tuple[str, ...],
        opened: tuple[str, ...],
        functions: tuple[str, ...],
    ) -> str:
        """Return the script; `armed` is before the file is opened, and `opened` after that."""
        opening, *before = self.calls_before()
        if functions:
            opening = opening.replace("fs.open(", "failing(fs.open)(")
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
        return assembled(self.failure, data, lines, functions, MAX_LINES)

    def _right(self) -> Iterator[str]:
        if self.failure.clause == "fault.close":
            yield "right = not isinstance(actual, Exception)"
            return
        yield from self.right()
        yield "if isinstance(actual, OSError) and not isinstance(actual, EOFError):"
        yield "    right = True  # a request failed"


def _failing(fault: Fault) -> Iterator[str]:
    """Yield a function that returns a call some of whose requests fail."""
    struck = f"requests >= {fault.nth}"
    if fault.times == 1:
        struck = f"requests == {fault.nth}"
    elif isinstance(fault.times, int):
        struck = f"requests in range({fault.nth}, {fault.last + 1})"
    yield "requests = 0"
    yield ""
    yield ""
    yield "def failing(call):"
    yield "    def request(*args, **options):"
    yield "        global requests"
    yield "        requests += 1"
    yield f"        if {struck}:  # {fault.kind}"
    number = f"errno.{_ERRORS[fault.kind]}"
    yield f"            raise OSError({number}, os.strerror({number}))"
    yield "        return call(*args, **options)"
    yield ""
    yield "    return request"
