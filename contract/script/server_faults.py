"""Write calls whose server misbehaves as a Python script, with a small server in it.

Whatever the server does, a call returns the bytes of the file or raises.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fscontract.contract.program.faults import Fault
from fscontract.contract.script.calls import Form, NoScript, ScriptApi, Source
from fscontract.contract.script.data import content_lines
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.frame import EXIT, assembled, set_up
from fscontract.contract.script.layout import indented
from fscontract.contract.script.plan import plan
from fscontract.contract.script.sequential import SequentialScript, or_raised


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
