"""The parts that all Python scripts of failures have: docstring, imports, data, and set-up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fscontract.contract.script.calls import NoScript
from fscontract.contract.script.failure import TRIES, Failure
from fscontract.contract.script.layout import docstring, indented, with_options
from fscontract.contract.spec.clauses import clauses

#: The most lines of a script, in Python and in Java.
MAX_LINES = 40
#: Limit of a script of a call that hangs, in seconds.
LIMIT = 30
#: The imports of the standard library, by the words of scripts that need them.
_IMPORTS = {
    **{
        rf"{name}\.": f"import {name}"
        for name in (
            *(
                "asyncio",
                "contextlib",
                "errno",
                "faulthandler",
                "gc",
                "gzip",
                "io",
                "json",
                "os",
                "pickle",
                "sys",
            ),
            *("tempfile", "threading", "time"),
        )
    },
    r"wait\(": "from concurrent.futures import ThreadPoolExecutor, wait",
    r"ThreadPoolExecutor\(\d": "from concurrent.futures import ThreadPoolExecutor",
    r"Barrier\(": "from threading import Barrier",
    r"Thread\(": "from threading import Thread",
    r"make_server\(": "from wsgiref.simple_server import make_server",
}


def assembled(
    failure: Failure,
    data: Iterable[str],
    lines: Iterable[str],
    functions: Iterable[str] = (),
) -> str:
    """Return a script: the docstring, the imports, `data`, the functions, and `lines`.

    Raise NoScript if it is too long. The versions of the libraries are left out if that helps.
    """
    lines, functions = [*(WATCHED if failure.hangs else ()), *lines], [*functions]
    helper = ["", "", *functions, "", ""] if functions else []
    text = "\n".join([*functions, *lines])
    imports = [line for word, line in _IMPORTS.items() if re.search(rf"(?<![\w.]){word}", text)]
    rest = ["", *imports, *([""] if imports else []), *data, *helper, *lines]
    about = docstring(_about(failure, True)), docstring(_about(failure, False))
    whole = min(([*head, *rest] for head in about), key=lambda one: len(one) > MAX_LINES)
    if len(whole) > MAX_LINES:
        raise NoScript(f"the script has {len(whole)} lines, more than {MAX_LINES}")
    return "\n".join(whole) + "\n"


#: Statements after which a script that hangs prints where, and exits with 1.
WATCHED = (
    f'print("expected:  ends within {LIMIT} s; else the calls that hang follow", flush=True)',
    f"faulthandler.dump_traceback_later({LIMIT}, exit=True)",
)


def set_up(statements: Iterable[str]) -> Iterator[str]:
    """Yield the block that prepares a script, which exits with 2 if that fails."""
    yield "try:"
    packed = [part for line in statements for part in with_options(line)]
    yield from indented(_after_imports(packed))
    yield "except Exception as error:"
    yield '    print("can\'t run:", repr(error))'
    yield "    raise SystemExit(2)"


def repeated(run: Iterable[str], right: Iterable[str]) -> list[str]:
    """Return the statements of runs up to one that fails; those of `right` are indented."""
    loop = f"while right and next(runs, False):  # it fails in some of {TRIES} runs only"
    return [f"right, runs = True, iter([True] * {TRIES})", loop, *indented(run), *right]


#: The last statement of a script.
EXIT = "raise SystemExit(0 if right else 1)  # 1: the bug is there, 2: this can't run"


def _about(failure: Failure, measured: bool) -> str:
    """Return the text of the docstring, with the versions if `measured`."""
    clause = clauses()[failure.clause]
    versions = ", ".join(f"{name} {version}" for name, version in failure.versions.items())
    text = f"{clause.id}: {clause.statement} Expected by {clause.citation}."
    return f"{text} Measured with {versions}." if versions and measured else text


def _after_imports(lines: list[str]) -> list[str]:
    """Return statements with an empty line after each group of imports, and the groups apart."""
    imports = ("import ", "from ")
    spaced: list[str] = []
    for line in lines:
        if spaced and spaced[-1].startswith(imports) and line and not line.startswith(imports):
            spaced.append("")
        spaced.append(line)
    return spaced
