"""Write an open of a path that is not a readable file as a Python script."""

from __future__ import annotations

from collections.abc import Iterator

from fscontract.contract.models.opened_path import CHECKS_AT_OPEN, CLASS, allowed_kinds
from fscontract.contract.program.content import new_content
from fscontract.contract.program.outcome import Kind, raised, words
from fscontract.contract.program.program import Program, Step
from fscontract.contract.script.calls import Form, NoScript, ScriptApi, Source
from fscontract.contract.script.data import content_lines
from fscontract.contract.script.exceptions import exception_classes
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.frame import EXIT, assembled, set_up
from fscontract.contract.script.layout import indented, printed, statement

_READ = Step("read_byte")


def path_script(api: ScriptApi, source: Source, failure: Failure, is_fixed: bool) -> str:
    """Return the script of an open of an unusual path; raise NoScript.

    `is_fixed` means that the target has only one file, so that nothing can be made at a path.
    """
    program, at = failure.program, failure.program.at
    assert at is not None
    data = new_content(program.length, at)
    kinds = right_kinds(failure)
    lines = [
        *set_up([*api.setup, *path_made(api, at.kind, is_fixed)]),
        *_attempt(api, failure),
        *_right(failure, kinds),
        *printed(f"open raises {words(kinds)}", "{stage} {actual!r:.200}"),
        EXIT,
    ]
    return assembled(failure, content_lines((data,), source.content), lines)


def right_kinds(failure: Failure) -> frozenset[Kind]:
    """Return the kinds of exceptions of which an open of the path has to raise one."""
    at = failure.program.at
    assert at is not None
    if failure.clause == CLASS:
        return frozenset({Kind.NOT_FOUND})
    return allowed_kinds(at.kind, failure.features)


def path_made(api: ScriptApi, kind: str, is_fixed: bool) -> Iterator[str]:
    """Yield the statements that make what is at the path, and set `path`; raise NoScript."""
    if kind == "empty-path":
        yield 'path = ""'
        return
    if kind == "missing":
        yield 'path += "-missing"'
        return
    if is_fixed or (kind == "empty-directory" and not api.makes_directory):
        raise NoScript("nothing can be made at a path of this target")
    if "directory" in kind:
        yield 'path += "-directory"'
    if kind == "empty-directory":
        yield api.makes_directory
        return
    if kind == "directory":
        yield from [api.makes_directory] if api.makes_directory else ()
        yield 'file, path = path, path + "/file"'
    yield from api.write.format("DATA").splitlines()
    if kind == "directory":
        yield "path = file"
    elif kind == "below-file":
        yield 'path += "/below"'
    elif kind == "unreadable":
        if not any(line.startswith("path = directory.name") for line in api.setup):
            raise NoScript("a permission has to be revoked")
        yield "os.chmod(path, 0)"
        yield 'assert not os.access(path, os.R_OK), "this user needs no permission"'


def _attempt(api: ScriptApi, failure: Failure) -> Iterator[str]:
    """Yield the statements that open the path and read, and set `actual` and `stage`."""
    read = api.spell(_READ, "f")
    if read is None or read.form not in (Form.BYTES, Form.BYTE, Form.VALUE):
        raise NoScript("the API has no call that reads a byte")
    yield 'stage = "open:"'
    yield "try:"
    yield from indented(api.opening(Program(failure.program.length, (_READ,)), "f"))
    yield '    stage = "read:"'
    yield f"    actual = {read}"
    if api.remote:
        yield "except (ConnectionError, TimeoutError):"
        yield "    raise SystemExit(2)"
    yield f"except {'BaseException' if api.panics else 'Exception'} as error:"
    yield "    actual = error"


def _right(failure: Failure, kinds: frozenset[Kind]) -> Iterator[str]:
    """Yield the statement that sets `right`."""
    at = failure.program.at
    assert at is not None
    names, more = exception_classes(lambda error: raised(error).kind in kinds, has_numbers=False)
    if not names:
        raise NoScript("no exception of this API is right")
    group = names[0] if len(names) == 1 else f"({', '.join(names)})"
    conditions = [f"isinstance(actual, {group})", *more]
    if at.kind != "unreadable" and CHECKS_AT_OPEN in failure.features:
        conditions.append('stage == "open:"')
    yield from statement(f"right = {' and '.join(conditions)}")
