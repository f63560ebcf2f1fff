"""Python's binary file protocol (io.RawIOBase, io.BufferedIOBase) over the same state."""

from __future__ import annotations

from fscontract.contract.models.python_file import inquiries, lines, reading, readinto, seeking
from fscontract.contract.models.python_file.common import is_bytes
from fscontract.contract.models.rules import Call, Operation, is_count
from fscontract.contract.outcome import Outcome

TABLES: dict[str, Operation] = {
    "py_read": reading.READ,
    "py_readall": reading.READALL,
    "py_readinto": readinto.READINTO,
    "py_seek": seeking.SEEK,
    "py_tell": seeking.TELL,
    "py_readline": lines.READLINE,
    "py_readlines": lines.READLINES,
    "py_next": lines.NEXT,
    **inquiries.TABLES,
}


def delivered(call: Call, outcome: Outcome) -> bytes | None:
    """The bytes a read delivered, empty at the end, None if it said nothing of the position."""
    value = outcome.value
    if call.op in ("py_read", "py_readline") and call.args[0] == 0:
        return None
    if call.op == "py_readinto":
        if not is_count(value) or readinto.room(call) == 0:
            return None
        return (outcome.buffer or b"")[: max(value, 0)]
    if call.op == "py_readlines" and type(value) is tuple:
        return b"".join(line for line in value if is_bytes(line))
    if call.op == "py_next" and value is None:
        return b""
    return value if type(value) is bytes else None
