"""The first programs of a target whose calls take so long that few programs can be run.

Each makes several calls of which each can fail in its own way, and opens its stream once.
"""

from __future__ import annotations

from fscontract.contract.generate.listed_calls import Call, expressible, program_of
from fscontract.contract.program.program import Program, Step

#: The lengths of the files: some bytes, a few in two lines, and more than a buffer of a library.
_SOME, _LINES, _FAR = 24, 11, (1 << 13) + 24
_OF_PYTHON: tuple[tuple[int, tuple[Call, ...]], ...] = (
    (
        _SOME,
        (
            *(("py_read", (2,)), ("py_readinto", ("B", 3)), ("py_tell", ())),
            *(("py_seek", (1, 1)), ("py_read", (2,)), ("py_seek", (-3, 2)), ("py_read", (5,))),
        ),
    ),
    (
        _LINES,
        (
            *(("py_readline", (None,)), ("py_tell", ()), ("py_readline", (2,)), ("py_read", (1,))),
            *(("py_seek", (8, 0)), ("py_readlines", (None,)), ("py_read", (1,))),
        ),
    ),
    (
        _FAR,
        (
            *(("py_seek", ((1 << 13) - 2, 0)), ("py_read", (5,)), ("py_tell", ())),
            *(("py_readinto", ("B", 4)), ("py_seek", (1, 0)), ("py_read", (2,))),
        ),
    ),
    (
        _SOME,
        (
            *(("py_read", (1,)), ("py_readall", ()), ("py_tell", ()), ("py_read", (2,))),
            *(("py_seek", (0, 0)), ("py_read", (-1,)), ("py_readinto", ("B", 2))),
        ),
    ),
    (
        _LINES,
        (
            *(("py_next", ()), ("py_tell", ()), ("py_read1", (3,)), ("py_seek", (9, 0))),
            *(("py_next", ()), ("py_peek", (1,))),
        ),
    ),
    (
        _SOME,
        (
            *(("py_read", (2,)), ("py_seek", (-1, 0)), ("py_read", (2,))),
            *(("py_seek", (0, 9)), ("py_readinto", ("B", 2)), ("py_tell", ())),
        ),
    ),
)
_OF_HADOOP: tuple[tuple[int, tuple[Call, ...]], ...] = (
    (
        _SOME,
        (
            *(("read_byte", ()), ("read_into", (4, 0, 4)), ("get_pos", ()), ("seek", (2,))),
            *(("read_into", (4, 1, 2)), ("skip", (3,)), ("read_byte", ())),
        ),
    ),
    (
        _SOME,
        (
            *(("pread", (2, 8, 2, 3)), ("get_pos", ()), ("read_byte", ())),
            *(("read_fully", (1, 4, 1, 2)), ("pread", ("len-2", 4, 0, 4)), ("read_byte", ())),
        ),
    ),
    (
        _SOME,
        (
            *(("seek", ("len-1",)), ("read_into", (4, 0, 4)), ("read_byte", ()), ("seek", (-1,))),
            *(("get_pos", ()), ("seek", (1,)), ("read_byte", ())),
        ),
    ),
    (
        _SOME,
        (
            ("read_vectored", (((3, 2), (0, 2)), "heap", "absent")),
            *(("read_byte", ()), ("pread_buffer", (1, 6, 1, 4)), ("read_buffer", (4, 0, None))),
            *(("get_pos", ()), ("unbuffer", ()), ("read_byte", ())),
        ),
    ),
    (
        _FAR,
        (
            *(("seek", ((1 << 13) - 2,)), ("read_into", (5, 0, 5)), ("get_pos", ())),
            *(("pread", ((1 << 13) - 1, 4, 0, 4)), ("seek", (1,)), ("read_into", (2, 0, 2))),
        ),
    ),
    (_SOME, (("read_byte", ()), ("close", ()), ("read_byte", ()), ("seek", (1,)))),
)
#: Calls on two streams of one file, as far as an API has them.
_OF_TWO = (
    (Step("py_read", (2,)), Step("py_seek", (3, 0), 1), Step("py_read", (2,)), Step("py_tell")),
    (Step("read_byte"), Step("seek", (3,), 1), Step("read_byte"), Step("get_pos")),
)


def programs(operations: frozenset[str], only_length: int | None = None) -> list[Program]:
    """Return the programs, those that tell most first.

    Those of another API are left out: the same calls of a target are behind both.
    """
    of_python = "py_read" in operations
    chosen = _OF_PYTHON if of_python else _OF_HADOOP
    made = [program_of(only_length or length, calls) for length, calls in chosen]
    made.append(Program(only_length or _SOME, _OF_TWO[not of_python], 2))
    return list(expressible(made, operations))
