"""Calls of an fsspec filesystem that read without a stream, and the same calls as source code."""

from __future__ import annotations

import itertools
import pickle
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from fscontract.contract.binding import REFUSALS, Action, Opened
from fscontract.contract.program.filesystem_calls import (
    GLOB,
    GZIP,
    GZIPPED,
    OTHER,
    REWRITTEN,
    SUFFIXES,
    TREE,
    TREE_FILES,
    others_of,
)
from fscontract.contract.program.outcome import INEXPRESSIBLE, Kind, Outcome
from fscontract.contract.program.program import Step
from fscontract.contract.script.calls import TAIL, Call, Form, path_text
from fscontract.contract.script.data import bytes_text
from fscontract.contract.script.layout import literal, quoted
from fscontract.implementations.bindings.common import WrongType, plain_bytes, several
from fscontract.implementations.bindings.file_operations import Fail

#: Writes a file that no program reads.
Write = Callable[[str, bytes], None]
#: The lengths of a file, whose bytes are alike, before and after it changes: the keys of both are
#: compared. One that is made of the start of the file stays the same.
_FIRST, _MORE = 5000, 5001
#: The end of the path of that file.
_KEYED = ".keyed"
#: A name that each store allows.
_PLAIN = "plain"


class Target(NamedTuple):
    """A filesystem, and a function that writes its files; None if there is one file only."""

    filesystem: Any
    write: Write | None


def bind_filesystem(step: Step, target: Target, fail: Fail) -> Action:
    """Return a step of FILESYSTEM_OPERATIONS as a function of an object with `path`."""
    return bind_call(_RUNS[step.op], step, target, fail, compressed_beside(step))


def bind_call(
    run: Callable[..., Any],
    step: Step,
    target: Target,
    fail: Fail,
    beside: Mapping[str, bytes] | None = None,
) -> Action:
    """Return a step as a function of an object with `path`, by a function that makes its call.

    `run` gets the target, the path and the arguments of the step. `beside` has the ends of the
    paths of other files that it needs, and the bytes of these files.
    """
    others, beside = others_of(step.args), beside or {}
    if "other" in others:
        beside = {SUFFIXES["other"]: OTHER}
    writes = beside or others or step.op in _WRITES

    def attempt(opened: Opened) -> Outcome:
        path = opened.path
        if ("?" in path or writes) and target.write is None:
            return INEXPRESSIBLE
        try:
            for end, data in beside.items():
                write_beside(target, path, end, data)
            if "rewritten" in others:
                _rewrite(target, path, lambda: run(target, path, *step.args))
            if "created" in others:
                path = f"{path}.{next(_numbers)}"
                _create(target, path, partial(run, target, path, *step.args))
            return Outcome(Kind.RETURNED, run(target, path, *step.args))
        except NotImplementedError:  # as of fsspec's base classes: the filesystem lacks the call
            return INEXPRESSIBLE
        except _NotWritten as error:
            return fail(error.reason, Kind.ENVIRONMENT)
        except Exception as error:
            return fail(error)

    return attempt


class _NotWritten(Exception):
    """A file that a call needs can't be written: the call is not made."""

    def __init__(self, reason: Exception) -> None:
        self.reason = reason


def write_beside(target: Target, path: str, end: str, data: bytes) -> None:
    """Write a file whose path is that of a program's file and `end`.

    Raise NotImplementedError if the filesystem refuses that, else _NotWritten. A store refuses a
    name if it writes a file of a plain one beside that of the program, and then still none of that
    name.
    """
    assert target.write is not None
    try:
        target.write(path + end, data)
    except REFUSALS as error:
        raise NotImplementedError(str(error)) from error
    except Exception as error:
        try:
            target.write(f"{path.rpartition('/')[0]}/{_PLAIN}", data)
        except Exception:
            raise _NotWritten(error) from error
        try:
            target.write(path + end, data)
        except Exception:
            raise NotImplementedError(str(error)) from error


def _rewrite(target: Target, path: str, read: Callable[[], Any]) -> None:
    """Write a file, read it, which may leave something of it in a cache, and write it again."""
    write_beside(target, path, SUFFIXES["rewritten"], OTHER)
    with suppress(Exception):  # judged when it is called again
        read()
    write_beside(target, path, SUFFIXES["rewritten"], REWRITTEN)


#: Numbers of paths, each of which is asked for and then written.
_numbers = itertools.count()


def _create(target: Target, path: str, read: Callable[[], Any]) -> None:
    """Ask for a file that is missing, which may leave something in a cache, and write it."""
    with suppress(Exception):  # judged when it is called again
        read()
    write_beside(target, path, SUFFIXES["created"], OTHER)


def paths_of(path: str, names: str | tuple[str, ...]) -> Any:
    """Return the path of a name in SUFFIXES, or a list of those of several."""
    if isinstance(names, str):
        return path + SUFFIXES[names]
    return [path + SUFFIXES[name] for name in names]


def _part(part: Any) -> Any:
    """Return the bytes of a result; True if it is an exception."""
    return True if isinstance(part, Exception) else plain_bytes(part)


def _cat_ranges(
    target: Target,
    path: str,
    paths: tuple[str, ...],
    begins: int | tuple[int, ...],
    ends: int | tuple[int, ...],
    on_error: str,
) -> Any:
    starts, stops = limits_of(begins), limits_of(ends)
    given = paths_of(path, paths)
    return parts_of(target.filesystem.cat_ranges(given, starts, stops, **error_option(on_error)))


def limits_of(numbers: int | tuple[int, ...]) -> int | list[int]:
    """Return the limits of ranges as fsspec takes them."""
    return list(numbers) if isinstance(numbers, tuple) else numbers


def parts_of(parts: Any) -> tuple[Any, ...]:
    """Return a list of bytes and exceptions as a tuple, in which these are True."""
    return tuple(map(_part, several(parts)))


def error_option(on_error: str) -> dict[str, str]:
    """Return the option of a call."""
    return {} if on_error == "default" else {"on_error": on_error}


def _cat(target: Target, path: str, paths: str | tuple[str, ...], on_error: str) -> Any:
    result = target.filesystem.cat(paths_of(path, paths), **error_option(on_error))
    return by_name(result, path, paths)


def by_name(result: Any, path: str, paths: str | tuple[str, ...]) -> Any:
    """Return the result of `cat`: bytes, or pairs of a path's name and its result."""
    if isinstance(paths, str) and paths != GLOB:
        return plain_bytes(result)
    names = {_end_of(path + end): name for name, end in SUFFIXES.items()}
    if not isinstance(result, Mapping):
        raise WrongType(f"expected a dictionary, got {type(result).__name__}")
    pairs = ((_end_of(key), part) for key, part in result.items())
    return tuple(sorted((names.get(name, name), _part(part)) for name, part in pairs))


def _end_of(path: str) -> str:
    """Return the last directory and the name, in lower case.

    Filesystems write in front of them what they like, and may not tell upper from lower case.
    """
    return "/".join(path.strip("/").casefold().split("/")[-2:])


def _get_file(target: Target, path: str, name: str) -> bytes | bool:
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory, "copy")
        target.filesystem.get_file(paths_of(path, name), str(copy))
        return copy.exists() and copy.read_bytes()


def _get_file_again(target: Target, path: str) -> bytes:
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory, "copy")
        copy.write_bytes(b"a longer file" * (target.filesystem.size(path) or 1))
        target.filesystem.get_file(path, str(copy))
        return copy.read_bytes()


def _get_leaves(target: Target, path: str) -> bool:
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory, "copy")
        with suppress(Exception):  # another clause is about what it raises
            target.filesystem.get_file(paths_of(path, "missing"), str(copy))
        return copy.exists()


def _info(target: Target, path: str, key: str) -> Any:
    return info_value(target.filesystem.info(path), key, path)


def info_value(info: Any, key: str, path: str) -> Any:
    """Return a value of `info`; of the name, whether it is that of the path."""
    value = info[key]
    return isinstance(value, str) and _is_name_of(value, path) if key == "name" else value


def _is_name_of(name: str, path: str) -> bool:
    """Return whether the last two elements are equal, as far as both have them, without case."""
    elements = (_end_of(one).split("/")[::-1] for one in (name, path))
    return all(one == other for one, other in zip(*elements, strict=False))


def _sizes(target: Target, path: str, paths: tuple[str, ...]) -> Any:
    return tuple(several(target.filesystem.sizes(paths_of(path, paths))))


def _compared(method: str, how: str) -> Callable[..., Any]:
    """Return a function that compares two keys of a file; `how` may be an argument of it."""

    def run(target: Target, path: str, given: str = how) -> bool:
        keyed, key = path + _KEYED, getattr(target.filesystem, method)
        write_beside(target, path, _KEYED, b"a" * _FIRST)
        before = key(keyed)
        if given == "changed":
            write_beside(target, path, _KEYED, b"a" * _MORE)
        return bool(before == key(keyed))

    return run


def _text(
    target: Target,
    path: str,
    name: str,
    way: str,
    encoding: str,
    errors: str,
    newline: str | None,
) -> tuple[str, ...]:
    options = {"encoding": encoding, "errors": errors, "newline": newline}
    if way == "read_text":
        return (target.filesystem.read_text(paths_of(path, name), **options),)
    mode = "r" if way == "read" else "rt"
    file = target.filesystem.open(paths_of(path, name), mode, **options)
    try:
        return (file.read(),) if way == "read" else tuple(file)
    finally:
        with suppress(Exception):  # another clause is about what close() raises
            file.close()


def compressed_beside(step: Step) -> dict[str, bytes]:
    """Return the file that a step reads by an OpenFile with a compression, by its suffix."""
    return {GZIP: GZIPPED} if "compressed open file" in step.args else {}


def open_file_of(filesystem: Any, path: str, what: str) -> Any:
    """Return an OpenFile of the file at a path, or of the compressed one beside it."""
    from fsspec.core import OpenFile

    if what == "open file":
        return OpenFile(filesystem, path)
    return OpenFile(filesystem, path + GZIP, compression="infer")


def _pickle(target: Target, path: str, what: str) -> bytes:
    if what == "filesystem":
        copied = pickle.loads(pickle.dumps(target.filesystem))  # noqa: S301  # our own
        return plain_bytes(copied.cat_file(path))
    opened = open_file_of(target.filesystem, path, what)
    copied = pickle.loads(pickle.dumps(opened))  # noqa: S301  # our own
    try:
        return plain_bytes(copied.open().read())
    finally:
        with suppress(Exception):
            copied.close()


class _Given(NamedTuple):
    """The arguments of `get`: ends of the path of the file, and paths below a local directory."""

    remote: str | tuple[str, ...]
    local: str | tuple[str, ...] = ""
    recursive: bool = False


_ONE, _TWO, _ = (f"{TREE}/{name}" for name in TREE_FILES)
_GIVEN = {
    "file": _Given("", "copy"),
    "file into directory": _Given(_ONE),
    "file into new directory": _Given(_ONE, "new/"),
    "lists": _Given((_TWO, ""), ("first", "second")),
    "list into directory": _Given((_ONE, _TWO)),
    "directory": _Given(f"{TREE}/", "new/", recursive=True),
    "directory into directory": _Given(TREE, recursive=True),
    "content of directory": _Given(f"{TREE}/", recursive=True),
    "pattern": _Given(f"{TREE}/*"),
}


def bind_get(step: Step, target: Target, fail: Fail) -> Action:
    """Return a step of GET_OPERATIONS as a function of an object with `path`.

    The target has to write files in directories that may be missing.
    """
    tree = step.op == "fs_get" and step.args != ("file",)
    files = {f"{TREE}/{name}": data for name, data in TREE_FILES.items()} if tree else {}
    return bind_call(_RUNS[step.op], step, target, fail, files)


def _after(start: str, ends: str | tuple[str, ...]) -> str | list[str]:
    return start + ends if isinstance(ends, str) else [start + end for end in ends]


def _get(target: Target, path: str, copied: str) -> tuple[tuple[str, bytes], ...]:
    given = _GIVEN[copied]
    options = {"recursive": True} if given.recursive else {}
    with tempfile.TemporaryDirectory() as directory:
        local = _after(f"{directory}/", given.local)
        target.filesystem.get(_after(path, given.remote), local, **options)
        return files_below(Path(directory))


def files_below(directory: Path) -> tuple[tuple[str, bytes], ...]:
    """Return pairs of the path of each file below a directory and its bytes, in order."""
    found = [path for path in directory.rglob("*") if not path.is_dir()]
    return tuple(
        sorted((path.relative_to(directory).as_posix(), path.read_bytes()) for path in found)
    )


def _get_missing(target: Target, path: str) -> bool:
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory, "copy")
        target.filesystem.get(paths_of(path, "missing"), str(copy))
        return copy.exists()


def _missing_leaves(target: Target, path: str) -> bool:
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory, "copy")
        try:
            target.filesystem.get(paths_of(path, "missing"), str(copy))
        except NotImplementedError:
            raise
        except Exception:  # noqa: S110  # another clause is about what it raises
            pass
        return copy.exists()


def _present(count: int | None) -> tuple[int, ...]:
    return () if count is None else (count,)


_RUNS: dict[str, Callable[..., Any]] = {
    "fs_cat_file": lambda t, path, begin, end: plain_bytes(
        t.filesystem.cat_file(path, start=begin, end=end)
    ),
    "fs_cat_file_positional": lambda t, path, begin, end: plain_bytes(
        t.filesystem.cat_file(path, begin, end)
    ),
    "fs_read_bytes": lambda t, path, begin, end: plain_bytes(
        t.filesystem.read_bytes(path, start=begin, end=end)
    ),
    "fs_cat_missing": lambda t, path: plain_bytes(t.filesystem.cat_file(paths_of(path, "missing"))),
    "fs_cat_ranges": _cat_ranges,
    "fs_cat": _cat,
    "fs_read_block": lambda t, path, at, count, delimiter: plain_bytes(
        t.filesystem.read_block(path, at, count, bytes.fromhex(delimiter) or None)
    ),
    "fs_head": lambda t, path, count: plain_bytes(t.filesystem.head(path, *_present(count))),
    "fs_tail": lambda t, path, count: plain_bytes(t.filesystem.tail(path, *_present(count))),
    "fs_get_file": _get_file,
    "fs_get_file_again": _get_file_again,
    "fs_get_leaves": _get_leaves,
    "fs_info": _info,
    "fs_size": lambda t, path: t.filesystem.size(path),
    "fs_sizes": _sizes,
    "fs_exists": lambda t, path, name: t.filesystem.exists(paths_of(path, name)),
    "fs_isfile": lambda t, path, name: t.filesystem.isfile(paths_of(path, name)),
    "fs_checksum": _compared("checksum", "changed"),
    "fs_ukey": _compared("ukey", ""),
    "fs_text": _text,
    "fs_pickle": _pickle,
    "fs_get": _get,
    "fs_get_missing": _get_missing,
    "fs_get_missing_leaves": _missing_leaves,
}
#: Operations that write a file of their own.
_WRITES = frozenset({"fs_checksum", "fs_ukey", "fs_listed_again", "fs_many"})


# Source code ---------------------------------------------------------------------------------


def spell_filesystem(step: Step) -> Call | None:
    """Return a step as a call of the filesystem `fs` on `path`; None if it is none."""
    spell = _SPELLINGS.get(step.op)
    if spell is None:
        return None
    return with_others(step, spell(*step.args), "fs.pipe_file(other, {})")


def with_others(step: Step, call: Call, writing: str) -> Call:
    """Return a call with the statements that write the other files that it needs before it.

    `{}` in `writing`, which writes the file `other`, is for its bytes.
    """
    others, before = others_of(step.args), call.before
    if "rewritten" in others:
        first, again = (_other_written("rewritten", one, writing) for one in (OTHER, REWRITTEN))
        before = *first, *call.before, call.text, *again[1:], *call.before
    if "created" in others:
        named, written = _other_written("created", OTHER, writing)
        before = named, call.text, written
    if "other" in others:
        before = *_other_written("other", OTHER, writing), *before
    return replace(call, before=before)


def _other_written(name: str, content: bytes, writing: str) -> tuple[str, ...]:
    named = writing.replace("other", name)
    return f"{name} = path + {quoted(SUFFIXES[name])}", named.format(bytes_text(content))


#: The most equal paths that are written in full in a list.
_MOST_EQUAL = 3


def _paths(names: tuple[str, ...]) -> str:
    if len(names) > _MOST_EQUAL and len({*names}) == 1:
        return f"[{path_text(names[0])}] * {len(names)}"
    return f"[{', '.join(map(path_text, names))}]"


def _given(*args: Any, **options: Any) -> str:
    """Return arguments after the first one as source code, without default values."""
    named = [f"{name}={literal(value)}" for name, value in options.items() if value != "default"]
    return "".join(f", {one}" for one in [*map(literal, args), *named])


_PART = "isinstance({0}, Exception) or bytes({0})"


def _spell_ranges(paths: Any, begins: Any, ends: Any, on_error: str) -> Call:
    call = f"fs.cat_ranges({_paths(paths)}{_given(begins, ends, on_error=on_error)})"
    text, missing = f"[{_PART.format('one')} for one in found]", path_text("missing")
    before: tuple[str, ...] = (f"found = {call}",)
    if call.count(missing) > _MOST_EQUAL:
        before = f"missing = {missing}", before[0].replace(missing, "missing")
    return Call(text, Form.EQUAL, before=before, shown=call)


def _spell_cat(paths: Any, on_error: str) -> Call:
    given = _paths(paths) if isinstance(paths, tuple) else path_text(paths)
    call = f"fs.cat({given}{_given(on_error=on_error)})"
    if isinstance(paths, str) and paths != GLOB:
        return Call(f"bytes({call})", Form.EQUAL)
    named = "parts = {tail(key): one for key, one in found.items()}"
    text = f"{{k: {_PART.format('v')} for k, v in parts.items()}}"
    return Call(text, Form.MAPPING, before=(TAIL, f"found = {call}", named), shown=call)


_LOCAL = 'local = os.path.join(tempfile.mkdtemp(), "copy")'


def _spell_get(name: str) -> Call:
    getting = f"fs.get_file({path_text(name)}, local)"
    text = 'os.path.exists(local) and open(local, "rb").read()'
    return Call(text, Form.EQUAL, before=(_LOCAL, getting), shown=getting)


def _spell_get_again() -> Call:
    written = 'open(local, "wb").write(b"a longer file" * (fs.size(path) or 1))'
    before = _LOCAL, written, "fs.get_file(path, local)"
    return Call('open(local, "rb").read()', Form.EQUAL, before=before, shown=before[-1])


def _spell_leaves() -> Call:
    getting = f"fs.get_file({path_text('missing')}, local)"
    before = _LOCAL, f"with contextlib.suppress(Exception): {getting}"
    return Call("os.path.exists(local)", Form.EQUAL, before=before)


def _spell_info(key: str) -> Call:
    text = f"fs.info(path)[{quoted(key)}]"
    if key != "name":
        return Call(text, Form.EQUAL)
    return Call(f"tail({text}) == tail(path)", Form.EQUAL, before=(TAIL,))


def _spell_compared(method: str, how: str) -> Callable[..., Call]:
    def spell(given: str = how) -> Call:
        written = f'fs.pipe_file(keyed, b"a" * {_FIRST})'
        before = [f"keyed = path + {quoted(_KEYED)}", written, f"before = fs.{method}(keyed)"]
        if given == "changed":
            before.append(f'fs.pipe_file(keyed, b"a" * {_MORE})')
        return Call(f"before == fs.{method}(keyed)", Form.EQUAL, before=tuple(before))

    return spell


def _spell_text(name: str, way: str, encoding: str, errors: str, newline: str | None) -> Call:
    options = _given(encoding=encoding, errors=errors, newline=newline)
    if way == "read_text":
        return Call(f"[fs.read_text({path_text(name)}{options})]", Form.EQUAL)
    mode = "r" if way == "read" else "rt"
    opened = f'text = fs.open({path_text(name)}, "{mode}"{options})'
    return Call("[text.read()]" if way == "read" else "[*text]", Form.EQUAL, before=(opened,))


def _spell_pickle(what: str) -> Call:
    if what == "filesystem":
        return Call("pickle.loads(pickle.dumps(fs)).cat_file(path)", Form.EQUAL)
    opened, before = spell_open_file(what)
    text = f"pickle.loads(pickle.dumps({opened})).open().read()"
    return Call(text, Form.EQUAL, before=before, imports=("from fsspec.core import OpenFile",))


def spell_open_file(what: str) -> tuple[str, tuple[str, ...]]:
    """Return the expression of the OpenFile of a step, and the statement that writes its file."""
    if what == "open file":
        return "OpenFile(fs, path)", ()
    written = f'fs.pipe_file(path + "{GZIP}", gzip.compress({bytes_text(OTHER)}))'
    return f'OpenFile(fs, path + "{GZIP}", compression="infer")', (written,)


def _spell(method: str) -> Callable[..., Call]:
    return lambda *args: Call(f"fs.{method}(path{_given(*args)})", Form.EQUAL)


def _spell_end(method: str) -> Callable[[int | None], Call]:
    return lambda count: Call(f"fs.{method}(path{_given(*_present(count))})", Form.EQUAL)


def _spell_range(method: str) -> Callable[[int | None, int | None], Call]:
    def spell(begin: int | None, end: int | None) -> Call:
        given = {name: at for name, at in (("start", begin), ("end", end)) if at is not None}
        return Call(f"fs.{method}(path{_given(**given)})", Form.EQUAL)

    return spell


def _spell_named(method: str) -> Callable[[str], Call]:
    return lambda name: Call(f"fs.{method}({path_text(name)})", Form.EQUAL)


def _spell_block(at: int, count: int | None, delimiter: str) -> Call:
    more = f", {bytes_text(bytes.fromhex(delimiter))}" if delimiter else ""
    return Call(f"fs.read_block(path{_given(at, count)}{more})", Form.EQUAL)


def _spelled(variable: str, ends: str | tuple[str, ...]) -> str:
    if isinstance(ends, tuple):
        return f"[{', '.join(_spelled(variable, end) for end in ends)}]"
    return f"{variable} + {quoted(ends)}" if ends else variable


def _spell_copied(copied: str) -> Call:
    given = _GIVEN[copied]
    more = ", recursive=True" if given.recursive else ""
    remote, local = _spelled("path", given.remote), _spelled("local", given.local)
    getting = f"fs.get({remote}, {local}{more})"
    written = () if copied == "file" else _written()
    walked = "names = [os.path.join(at, name) for at, _, found in os.walk(local) for name in found]"
    return Call(
        '[[os.path.relpath(name, local), open(name, "rb").read()] for name in sorted(names)]',
        Form.EQUAL,
        before=(*written, 'local = tempfile.mkdtemp() + "/"', getting, walked),
        shown=getting,
    )


def _written() -> tuple[str, ...]:
    """Return the statements that write the files below TREE."""
    directory = f'path + "{TREE}'
    files = (f'fs.pipe_file({directory}/{n}", {bytes_text(d)})' for n, d in TREE_FILES.items())
    return f'fs.makedirs({directory}/sub", exist_ok=True)', *files


_GETTING = f"fs.get({path_text('missing')}, local)"


def _spell_missing() -> Call:
    return Call("os.path.exists(local)", Form.EQUAL, before=(_LOCAL, _GETTING), shown=_GETTING)


def _spell_missing_leaves() -> Call:
    before = _LOCAL, f"with contextlib.suppress(Exception): {_GETTING}"
    return Call("os.path.exists(local)", Form.EQUAL, before=before)


_SPELLINGS: dict[str, Callable[..., Call]] = {
    "fs_cat_file": _spell_range("cat_file"),
    "fs_cat_file_positional": _spell("cat_file"),
    "fs_read_bytes": _spell_range("read_bytes"),
    "fs_cat_missing": lambda: Call(f"fs.cat_file({path_text('missing')})", Form.EQUAL),
    "fs_cat_ranges": _spell_ranges,
    "fs_cat": _spell_cat,
    "fs_read_block": _spell_block,
    "fs_head": _spell_end("head"),
    "fs_tail": _spell_end("tail"),
    "fs_get_file": _spell_get,
    "fs_get_file_again": _spell_get_again,
    "fs_get_leaves": _spell_leaves,
    "fs_info": _spell_info,
    "fs_size": _spell("size"),
    "fs_sizes": lambda paths: Call(f"fs.sizes({_paths(paths)})", Form.EQUAL),
    "fs_exists": _spell_named("exists"),
    "fs_isfile": _spell_named("isfile"),
    "fs_checksum": _spell_compared("checksum", "changed"),
    "fs_ukey": _spell_compared("ukey", ""),
    "fs_text": _spell_text,
    "fs_pickle": _spell_pickle,
    "fs_get": _spell_copied,
    "fs_get_missing": _spell_missing,
    "fs_get_missing_leaves": _spell_missing_leaves,
}
