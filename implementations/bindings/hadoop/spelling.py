"""Write programs as the Java calls of Hadoop's streams, and a class's URI, options and file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from fscontract.contract.program.open_calls import BuilderCall
from fscontract.contract.program.program import Program, Step
from fscontract.contract.script.calls import BUFFER, Call, Form, JavaApi, NoScript, Source
from fscontract.contract.text import mask_url, secrets_of
from fscontract.implementations.bindings.script_setup import FILE, URL_VARIABLE
from fscontract.implementations.bindings.spelling import spell_program
from fscontract.implementations.s3.moto_target import BUCKET

_INT = 2**31


def spell(program: Program) -> str:
    """Return a program without anchors as Java calls; "" if there is none for one of them."""
    return spell_program(program, _opening(program), spell_step, "in")


def _opening(program: Program) -> str:
    if program.opening is None:
        return "fs.open(path)"
    calls = [spell_option(call) for call in program.opening.calls]
    return ".".join(["fs.openFile(path)", *calls, "build()", "get()"])


def spell_option(call: BuilderCall, hadoop: str = "") -> str:
    """Return a call of the builder without the object; a status is the variable `status`.

    `hadoop` is the release of Hadoop, "" if it does not matter.
    """
    name, *args = call
    method = _BUILDER[name]
    if hadoop and _numbers(hadoop) < _WITH_LONG:
        method = method.removesuffix("Long").removesuffix("Double")
    return f"{method}({_option(name, args)})"


def _numbers(release: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", release)]


def _option(name: str, args: list[Any]) -> str:
    if name == "with_file_status":
        return "null" if args[0] == "none" else "status"
    if name == "buffer_size":
        return str(args[0])
    key, value = args
    return f"{_literal(key)}, {_long(value) if name.endswith('_long') else _literal(value)}"


_BUILDER = {
    "opt": "opt",
    "must": "must",
    "opt_long": "optLong",
    "must_long": "mustLong",
    "opt_double": "optDouble",
    "must_double": "mustDouble",
    "buffer_size": "bufferSize",
    "with_file_status": "withFileStatus",
}
#: The first release whose builders have optLong and optDouble; before, opt takes such numbers.
_WITH_LONG = [3, 3, 6]


def _literal(value: Any) -> str:
    """Return a text, number or truth value as Java; JSON writes them in the same way."""
    return _number(value) if type(value) is int else json.dumps(value)


def _long(value: int) -> str:
    return f"{value}L"


def _number(value: int) -> str:
    """Return a number where Java converts an int, as a long if it does not fit."""
    return str(value) if -_INT <= value < _INT else _long(value)


def spell_step(step: Step, name: str) -> Call | None:
    """Return a step without anchors as a Java call; None if there is none."""
    spell = _STEPS.get(step.op)
    return None if spell is None else spell(f"{name}.", *step.args)


def _call(method: str, form: Form = Form.VALUE) -> Callable[..., Call]:
    return lambda f, *args: Call(f"{f}{method}({', '.join(map(_literal, args))})", form)


def _fill(method: str, positions: int) -> Callable[..., Call]:
    def spell(f: str, *args: Any) -> Call:
        before, size, after = args[:positions], args[positions], args[positions + 1 :]
        array = "(byte[]) null" if size is None else BUFFER
        given = [*map(_long, before), array, *map(_number, after)]
        made = "" if size is None else f"new byte[{size}]"
        start = after[0] if after else 0
        return Call(f"{f}{method}({', '.join(given)})", Form.FILLED, made, "buffer", start)

    return spell


def _byte_buffer(method: str, positions: int) -> Callable[..., Call]:
    def spell(f: str, *args: Any) -> Call:
        before, (size, start, limit) = args[:positions], args[positions:]
        array = "(ByteBuffer) null" if size is None else BUFFER
        made = "" if size is None else f"ByteBuffer.allocate({size})"
        if size is not None:
            if start:
                made = f"ByteBuffer.allocate({size + 1}).position(1).slice().position({start})"
            made += f".limit({limit})" if limit not in (None, size) else ""
        call = f"{f}{method}({', '.join([*map(_long, before), array])})"
        return Call(call, Form.FILLED, made, "buffer.array()", start + 1 if start else 0)

    return spell


_ALLOCATORS = {"heap": "ByteBuffer::allocate", "view": "ByteBuffer::allocateDirect", "null": "null"}
_RELEASES = {"given": ["released -> {}"], "absent": [], "null": ["null"]}


def _vectored(
    f: str, ranges: tuple[tuple[int, int] | None, ...] | None, allocate: str, release: str
) -> Call:
    parts = (
        "null" if pair is None else f"FileRange.createFileRange({_number(pair[0])}, {pair[1]})"
        for pair in ranges or ()
    )
    made = "" if ranges is None else f"Arrays.asList({', '.join(parts)})"
    listed = "null" if ranges is None else BUFFER
    given = ", ".join([listed, _ALLOCATORS[allocate], *_RELEASES[release]])
    return Call(f"{f}readVectored({given})", Form.PARTS, made)


_STEPS: dict[str, Callable[..., Call]] = {
    "close": _call("close", Form.NOTHING),
    "get_pos": _call("getPos"),
    "read_byte": _call("read", Form.BYTE),
    "seek": _call("seek", Form.NOTHING),
    "seek_to_new_source": _call("seekToNewSource"),
    "unbuffer": _call("unbuffer", Form.NOTHING),
    "has_capability": _call("hasCapability"),
    "skip": _call("skip", Form.COUNT),
    "available": _call("available"),
    "read_into": _fill("read", 0),
    "pread": _fill("read", 1),
    "read_fully": _fill("readFully", 1),
    "read_fully_all": _fill("readFully", 1),
    "read_vectored": _vectored,
    "read_buffer": _byte_buffer("read", 0),
    "pread_buffer": _byte_buffer("read", 1),
    "read_fully_buffer": _byte_buffer("readFully", 1),
}


#: Options of the target that are not Hadoop's.
_OWN = ("filesystem", "api", "bucket")
#: URIs of local filesystems, and the class that Hadoop uses for them.
_RAW = {"fs.file.impl": '"org.apache.hadoop.fs.RawLocalFileSystem"'}
#: The class that a FileContext uses instead.
_RAW_CONTEXT = {"fs.AbstractFileSystem.file.impl": '"org.apache.hadoop.fs.local.RawLocalFs"'}
#: The mount table of viewfs without one: a directory at `_MOUNT`.
_MOUNT = "/mounted"
_LINK = {
    f"fs.viewfs.mounttable.default.link.{_MOUNT}": '"file:" + System.getProperty("java.io.tmpdir")'
}
#: Filesystems whose archive or mount table is made for a check.
_MADE_HERE = ("har://", "viewfs:///")


def java_setup(source: Source) -> JavaApi:
    """Return the filesystem of a target of Hadoop; raise NoScript if a class can't make it."""
    is_context = source.options.get("api", "filesystem") != "filesystem"
    options = {
        name: _value(name, str(value)) for name, value in source.options.items() if name not in _OWN
    }
    scheme = source.options.get("filesystem", "raw")
    url = source.target.partition("+")[2] or source.target
    if url == "s3a":  # the endpoint and the credentials are in core-site.xml
        url = f"s3a://{source.options.get('bucket', BUCKET)}/"
    if url.startswith(("raw://", "file://", *_MADE_HERE)):
        scheme = url.partition("://")[0]
    elif source.target != "hadoop":
        if "://" not in url:
            raise NoScript(f"{mask_url(source.target)} can't be made in a class")
        uri = json.dumps(url) if mask_url(url) == url else f'System.getenv("{URL_VARIABLE}")'
        path = f"/{FILE}"
        if source.file:
            path = urljoin(unquote(urlsplit(url).path), source.file)
        made = json.dumps(path), options, spell_step, spell_option, is_context
        return JavaApi(uri, *made, source.content if source.file else None)
    if scheme == "viewfs":
        path = f'"{_MOUNT}/{FILE}"'
        made = path, {**_LINK, **options}, spell_step, spell_option, is_context
        return JavaApi('"viewfs:///"', *made)
    if scheme == "har":
        made = 'dir.toString(), "file"', options, spell_step, spell_option, is_context
        return JavaApi('"har:/tmp/fscontract.har"', *made, is_archive=True)
    raw = (_RAW_CONTEXT if is_context else _RAW) if scheme == "raw" else {}
    path = f'System.getProperty("java.io.tmpdir"), "{FILE}"'
    return JavaApi('"file:///"', path, {**raw, **options}, spell_step, spell_option, is_context)


def _value(name: str, value: str) -> str:
    if secrets_of({name: value}):
        variable = re.sub(r"\W", "_", name).upper()
        return f'System.getenv("{variable}")'
    return json.dumps(value)
