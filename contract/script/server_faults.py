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
from fscontract.contract.script.sequential import SequentialScript

#: The most lines: a third is the server.
MAX_LINES = 76


@dataclass(frozen=True)
class _Misbehaviour:
    """The statements of the server for a request that a fault strikes.

    They are executed when it has read the request, and when it has found the bytes `body` from
    `first` to `last`; `ranged` means that it tells their range.
    """

    request: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()
    #: The expression of the length that the answer tells.
    length: str = "len(body)"
    #: The command of the requests that the fault counts.
    command: str = "GET"


_REFUSED = ("self.send_error({})", "return")
_KINDS = {
    "ignore-ranges": _Misbehaviour(('wanted = ""',)),
    "omit-content-range": _Misbehaviour(answer=("body, ranged = DATA, False",)),
    "shift-ranges": _Misbehaviour(
        answer=(
            "first, last = (first - 1, last - 1) if first else (1, last + 1)",
            "last = min(last, len(DATA) - 1)",
            "body = DATA[first : last + 1]",
        )
    ),
    "slow-down": _Misbehaviour(tuple(line.format(503) for line in _REFUSED)),
    "refuse-head": _Misbehaviour(tuple(line.format(405) for line in _REFUSED), command="HEAD"),
    "overstate-length": _Misbehaviour(length="len(body) * (1 + struck) + struck", command="HEAD"),
    "cut-bodies": _Misbehaviour(
        answer=("body = body[: len(body) // 2]",), length="last + 1 - first"
    ),
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
        lines = [
            *set_up([*_started(), *self.file_made(), *self.buffer_made()]),
            "try:",
            *indented([*self.calls_before(), *self.last()]),
            "except Exception as error:  # is right, for the server misbehaves",
            "    actual = error",
            *self.right(),
            "if isinstance(actual, Exception) and not isinstance(actual, EOFError):",
            "    right = True",
            *self.shown(),
            EXIT,
        ]
        data = content_lines(self.plan.versions, None)
        return assembled(self.failure, data, lines, _server(fault), MAX_LINES)


def _started() -> Iterator[str]:
    yield 'server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)'
    yield "threading.Thread(target=server.serve_forever, daemon=True).start()"
    yield 'host = f"127.0.0.1:{server.server_port}"'
    yield 'url = f"http://{host}"'


def _server(fault: Fault) -> Iterator[str]:
    """Yield the class of the server's requests."""
    kind = _KINDS[fault.kind]
    yield ""
    yield "class Files(http.server.BaseHTTPRequestHandler):"
    yield "    count = 0"
    yield ""
    yield "    def do_GET(self):"
    yield f'        Files.count += self.command == "{kind.command}"'
    struck = f'self.command == "{kind.command}" and Files.count'
    if fault.last == fault.nth:
        yield f"        struck = {struck} == {fault.nth}  # {fault.kind}"
    else:
        yield f"        struck = {struck} in range({fault.nth}, {fault.last + 1})  # {fault.kind}"
    yield '        wanted = self.headers["Range"] or ""'
    yield from _if_struck(kind.request)
    yield '        start, _, end = wanted.removeprefix("bytes=").partition("-")'
    yield "        first, last = int(start or 0), min(int(end or 1e9), len(DATA) - 1)"
    yield "        if first > last:"
    yield "            self.send_error(416)"
    yield "            return"
    yield '        body, ranged = DATA[first : last + 1], wanted != ""'
    yield from _if_struck(kind.answer)
    yield "        self.send_response(206 if wanted else 200)"
    yield '        self.send_header("Accept-Ranges", "bytes")'
    yield f'        self.send_header("Content-Length", str({kind.length}))'
    yield "        if ranged:"
    place = 'f"bytes {first}-{last}/{len(DATA)}"'
    yield f'            self.send_header("Content-Range", {place})'
    yield "        self.end_headers()"
    yield '        self.wfile.write(body if self.command == "GET" else b"")'
    yield ""
    yield "    do_HEAD = do_GET"


def _if_struck(statements: tuple[str, ...]) -> Iterator[str]:
    if statements:
        yield "        if struck:"
        yield from (f"            {line}" for line in statements)
