"""Write a file whose status has another length as a Python script."""

from __future__ import annotations

from fscontract.contract.script.calls import NoScript, ScriptApi, Source
from fscontract.contract.script.data import content_lines
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.frame import EXIT, assembled, set_up
from fscontract.contract.script.layout import printed

#: The clause of the status's length.
STATUS = "model.len-eq-status"


def status_script(api: ScriptApi, source: Source, failure: Failure, data: bytes) -> str:
    """Return the script for the status of a file with this content; raise NoScript."""
    if not api.status:
        raise NoScript("the API has no status of a file")
    lines = [
        *set_up([*api.setup, *api.write.format("DATA").splitlines(), f"actual = {api.status}"]),
        "right = type(actual) is int and actual == len(DATA)",
        *printed(str(len(data)), "{actual!r:.200}"),
        *api.cleanup,
        EXIT,
    ]
    return assembled(failure, content_lines((data,), source.content), lines)
