"""Write calls of which a request fails, or whose server misbehaves, as a Python script.

Whatever fails, a call returns the bytes of the file or raises OSError. The requests of a file of
fsspec are those of its cache, which the script makes fail; a filesystem with an `injector`, which
needs this package in any case, gets the plan of faults. A script for a misbehaving server has a
small server in it. Whatever that does, a call returns the bytes of the file or raises.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

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


@dataclass(frozen=True)
class _Misbehaviour:
    """The statement by which the server misbehaves, at a stage of a request of this method.

    It changes the request `environ`, or the bytes `first` to `last` that are sent, or the `status`,
    the `headers` and the `body` of the answer. `{}` is the last byte of the file.
    """

    change: str
    stage: str
    method: str = "GET"


#: The expression of the URL of the server.
_ADDRESS = 'f"http://127.0.0.1:{server.server_port}"'
_REFUSED = 'status, headers, body = "{}", {{{{}}}}, b""'
_KINDS = {
    "ignore-ranges": _Misbehaviour('environ.pop("HTTP_RANGE", None)', "request"),
    "omit-content-range": _Misbehaviour("headers, body = {{}}, DATA", "answer"),
    "shift-ranges": _Misbehaviour(
        "first, last = (first - 1, last - 1) if first else (1, min(last + 1, {}))", "range"
    ),
    "slow-down": _Misbehaviour(_REFUSED.format("503 Slow Down"), "answer"),
    "refuse-head": _Misbehaviour(_REFUSED.format("405 Not Allowed"), "answer", "HEAD"),
    "overstate-length": _Misbehaviour(
        'headers["Content-Length"] = str(2 * len(body) + 1)', "answer", "HEAD"
    ),
    "cut-bodies": _Misbehaviour("body = body[: len(body) // 2]", "answer"),
}


def server_fault_script(api: ScriptApi, source: Source, failure: Failure) -> str:
    """Return the script of a failure whose server misbehaves; raise NoScript with the reason."""
    faults = failure.program.faults
    assert faults is not None
    if not api.is_served or len(faults.faults) != 1:
        raise NoScript("requests have to fail in another way than by one fault of a server")
    (fault,) = faults.faults
    if fault.kind not in _KINDS or fault.uncommon:
        raise NoScript(f"the fault {fault.kind} needs more than a small server")
    program = replace(failure.program, faults=None)
    planned = plan(failure.clause, program, failure.features, failure.buffer, None)
    script = _ServerFaultScript(api, source, replace(failure, program=program), planned)
    if script.call is None or script.call.form is Form.PARTS:
        raise NoScript("each range of the last call may fail")
    return script.with_server(fault)


class _ServerFaultScript(SequentialScript):
    """Calls, of which the last one may also raise."""

    def with_server(self, fault: Fault) -> str:
        """Return the script; raise NoScript if it is too long."""
        imports, made = _apart([*map(_with_url, self.file_made())])
        server = [*_server(fault, len(self.plan.versions[0]) - 1), *_url(made)]
        lines = [
            *set_up([*imports, *server, *made, *self.buffer_made()]),
            "try:",
            *indented([*self.calls_before(), *self.last()]),
            "except Exception as error:  # is right, for the server misbehaves",
            "    actual = error",
            *or_raised(self.right(), "Exception"),
            *self.shown(),
            EXIT,
        ]
        data = [*content_lines(self.plan.versions, None), "methods = []"]
        return assembled(self.failure, data, lines)


def _apart(lines: list[str]) -> tuple[list[str], list[str]]:
    """Return the imports among statements, and the others."""
    imports = [line for line in lines if line.startswith(("import ", "from "))]
    return imports, [line for line in lines if line not in imports]


def _with_url(line: str) -> str:
    """Return a statement with the variable `url` for a text that begins with it."""
    return line.replace('f"http://{host}/"', "url").replace('f"http://{host}', 'f"{url}')


def _url(made: list[str]) -> Iterator[str]:
    """Yield the statement that sets `url`, or `path` instead if `made` needs no more."""
    if made != ["fs, _ = url_to_fs(url)", 'path = url + "/bucket/file"']:
        yield f"url = {_ADDRESS}"
        return
    made[:] = ["fs, _ = url_to_fs(path)"]
    yield f'path = {_ADDRESS[:-1]}/bucket/file"'


def _server(fault: Fault, last: int) -> Iterator[str]:
    """Yield the statements that start a server of a file whose last byte this is."""
    yield ""
    yield "def respond(environ, start):"
    yield from indented(_answer(fault, last))
    yield ""
    yield 'server = make_server("127.0.0.1", 0, respond)'
    yield "Thread(target=server.serve_forever, daemon=True).start()"


def _answer(fault: Fault, last: int) -> Iterator[str]:
    """Yield the statements of a WSGI application, of which a request is struck."""
    kind = _KINDS[fault.kind]
    count = f'methods.count("{kind.method}")'
    struck = f"{count} == {fault.nth}"
    if fault.last != fault.nth:
        struck = f"{count} in range({fault.nth}, {fault.last + 1})"
    change = [
        f'if methods[-1] == "{kind.method}" and {struck}:  # {fault.kind}',
        f"    {kind.change.format(last)}",
    ]
    yield 'methods.append(environ["REQUEST_METHOD"])'
    yield from change if kind.stage == "request" else ()
    yield 'first, last = environ.get("HTTP_RANGE", "bytes=0-")[6:].split("-")'
    yield f"first, last = int(first or 0), min(int(last or {last}), {last})"
    yield from change if kind.stage == "range" else ()
    yield "body = DATA[first : last + 1]"
    place = f'f"bytes {{first}}-{{last}}/{last + 1}"'
    yield f'headers = {{"Content-Range": {place}, "Content-Length": str(len(body))}}'
    yield 'status = "206 Partial Content" if "HTTP_RANGE" in environ else "200 OK"'
    yield from change if kind.stage == "answer" else ()
    yield 'start(status, [("Accept-Ranges", "bytes"), *headers.items()])'
    yield 'return [body if methods[-1] == "GET" else b""]'
