"""Listings of directories by fsspec filesystems, and the same calls as source code."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any
from unicodedata import normalize

from fscontract.contract.binding import Action
from fscontract.contract.program.filesystem_calls import (
    BESIDE_LISTED,
    EXPANDED,
    GLOBS,
    LISTED,
    LISTED_FILES,
    LISTERS,
    LISTINGS,
    MANY,
    MANY_FILES,
    NAMED,
    OTHER,
    SEARCHES,
    SPACES,
    TIMES,
    WALKS,
)
from fscontract.contract.program.program import Step
from fscontract.contract.script.calls import Call, Form
from fscontract.contract.script.data import bytes_text
from fscontract.contract.script.layout import quoted
from fscontract.implementations.bindings.common import WrongType, plain_bytes, several
from fscontract.implementations.bindings.file_operations import Fail
from fscontract.implementations.bindings.filesystem_calls import (
    Target,
    bind_call,
    files_below,
    paths_of,
    write_beside,
)

_WRITTEN = {f"{LISTED}/{name}": data for name, data in LISTED_FILES.items()} | BESIDE_LISTED
#: The file in the directory itself.
_ONE = next(iter(LISTED_FILES))
#: The directory that is listed before and after it changes, and the one of each unusual name.
_AGAIN, _UNUSUAL = ".again/files", ".named"


def bind_listing(step: Step, target: Target, fail: Fail) -> Action:
    """Return a step of LISTING_OPERATIONS as a function of an object with `path`.

    The target has to write files in directories that may be missing.
    """
    return bind_call(_RUNS[step.op], step, target, fail, written_beside(step))


def written_beside(step: Step) -> dict[str, bytes]:
    """Return the files that a step needs, by the ends of their paths."""
    if step.op in ("fs_named", "pa_named"):
        return {named_end(str(step.args[1])): OTHER}
    return {} if step.op in _WITHOUT_TREE else _WRITTEN


_WITHOUT_TREE = frozenset(
    {"fs_entry", "fs_listed_again", "fs_many", "pa_many", "pa_select_again", "fs_time"}
)


def named_end(name: str) -> str:
    """Return the end of the path of the file with a name of NAMED, alone in its directory."""
    return f"{_UNUSUAL}/{name}/{NAMED[name]}"


def below(name: str, directory: str = LISTED) -> str:
    """Return what follows the directory in a path, in lower case, without slashes at its ends.

    Filesystems write in front of it what they like, may not tell upper from lower case, may write
    accents apart, and may end the path of a directory with a slash. The last name of another path
    follows "?".
    """
    _, found, after = normalize("NFC", str(name)).casefold().partition(directory)
    return after.strip("/") if found else f"?/{str(name).strip('/').rpartition('/')[2]}"


#: The names of MANY files, the seconds in which a target has to write them to be judged, and those
#: in which it has to write and list them for them to be removed: removing may take longer.
_MANY_NAMES = tuple(f"n{number:04}" for number in range(MANY_FILES))
_WRITING, _LISTING = 3.0, 1.0


@contextmanager
def many_files(
    target: Target, path: str, remove: Callable[[str], object]
) -> Iterator[tuple[str, ...]]:
    """Write MANY files and return their names; `remove` their directory in the end.

    Those of a slow target stay until the end of the run: the call that is judged has a time limit.
    """
    began = monotonic()
    try:
        yield _write_many(target, path)
    finally:
        if monotonic() - began < _LISTING:
            with suppress(Exception):  # what is left makes later listings slow, and nothing else
                remove(path + MANY)


def _write_many(target: Target, path: str) -> tuple[str, ...]:
    """Write MANY files, and return their names; raise NotImplementedError if it takes too long."""
    ends = monotonic() + _WRITING
    for name in _MANY_NAMES:
        write_beside(target, path, f"{MANY}/{name}", b"1")
        if monotonic() > ends:
            raise NotImplementedError("the filesystem is slow to write many files")
    return _MANY_NAMES


def count_many(paths: Iterable[str]) -> tuple[int, int]:
    """Return the number of names of MANY files in a listing, and that of others."""
    found = [below(path, MANY) for path in paths]
    right = len({*found}.intersection(_MANY_NAMES))
    return right, len(found) - right


def _names(paths: object) -> tuple[str, ...]:
    return tuple(sorted(map(below, several(paths))))


def _ls(target: Target, path: str, listed: str) -> tuple[Any, ...]:
    end, detail = LISTINGS[listed]
    found = several(target.filesystem.ls(path + LISTED + end, detail=detail))
    return _entries(found) if detail else _names(found)


def _entries(infos: Iterable[Mapping[str, Any]]) -> tuple[Any, ...]:
    return tuple(sorted((_entry(info, LISTED) for info in infos), key=lambda entry: entry[0]))


def _entry(info: Mapping[str, Any], directory: str) -> tuple[str, Any, Any]:
    size = info["size"] if info["type"] == "file" else None
    return below(info["name"], directory), info["type"], size


def _entry_of_file(target: Target, path: str) -> tuple[Any, Any]:
    """Return the type and size of the file in the listing of its directory."""
    found = several(target.filesystem.ls(target.filesystem._parent(path), detail=True))
    names = {info["name"].rstrip("/").rpartition("/")[2].casefold(): info for info in found}
    info = names[path.rpartition("/")[2].casefold()]
    return info["type"], info["size"]


def _glob(target: Target, path: str, pattern: str) -> tuple[str, ...]:
    fs = target.filesystem
    found = fs.glob(f"{path}{LISTED}/{pattern}")
    if pattern.endswith("/") and any(n.endswith("/") for n in fs.ls(path + LISTED, detail=False)):
        raise NotImplementedError("fsspec's glob() finds no directories whose paths end so")
    return _names(found)


def _glob_with(target: Target, path: str, globbed: str) -> tuple[Any, ...]:
    pattern, options = GLOBS[globbed]
    found = target.filesystem.glob(f"{path}{LISTED}/{pattern}", **options)
    return _entries(_infos(found)) if "detail" in options else _names(found)


def _find(target: Target, path: str, found: str) -> tuple[Any, ...]:
    options = SEARCHES[found]
    result = target.filesystem.find(path + LISTED, **options)
    return _entries(_infos(result)) if "detail" in options else _names(result)


def _infos(result: object) -> list[Mapping[str, Any]]:
    """Return the values of a dictionary from paths to their information, with these paths."""
    if not isinstance(result, Mapping):
        raise WrongType(f"expected a dictionary, got {type(result).__name__}")
    return [{**info, "name": path} for path, info in result.items()]


def _walk(target: Target, path: str, walked: str) -> tuple[Any, ...]:
    triples = []
    for at, directories, files in target.filesystem.walk(path + LISTED, **WALKS[walked]):
        triples.append((below(at), _sorted(directories), _sorted(files)))
        if walked == "pruned":
            directories.clear()
    return tuple(triples)


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(name.casefold().strip("/") for name in names))


def _du(target: Target, path: str, used: str) -> Any:
    if target.filesystem.info(f"{path}{LISTED}/{_ONE}")["size"] is None:
        raise NotImplementedError("the filesystem can't measure sizes")
    result = target.filesystem.du(path + LISTED, **SPACES[used])
    pairs = _pairs(result) if SPACES[used] else result
    return tuple(name for name, _ in pairs) if "withdirs" in SPACES[used] else pairs


def _pairs(result: object) -> tuple[tuple[str, Any], ...]:
    if not isinstance(result, Mapping):
        raise WrongType(f"expected a dictionary, got {type(result).__name__}")
    return tuple(sorted((below(key), value) for key, value in result.items()))


def _kind(target: Target, path: str, method: str) -> Any:
    fs, directory = target.filesystem, path + LISTED
    if method == "isdir":
        paths = directory, f"{directory}/", f"{directory}/sub/deep", f"{directory}/{_ONE}"
        return tuple(map(fs.isdir, (*paths, directory[:-1], paths_of(path, "missing"))))
    return fs.info(directory)["type"] if method == "info" else fs.isfile(directory)


def _cat_tree(target: Target, path: str) -> Any:
    found = target.filesystem.cat(path + LISTED, recursive=True, on_error="omit")
    return tuple((name, plain_bytes(part)) for name, part in _pairs(found))


def _expand(target: Target, path: str, expanded: str) -> tuple[str, ...]:
    start, patterns = path + LISTED, EXPANDED[expanded]
    given = [f"{start}/{pattern}" for pattern in patterns] or start
    options = {} if patterns else {"recursive": True}
    return _names(target.filesystem.expand_path(given, **options))


def _listed_again(target: Target, path: str, again: str) -> Any:
    """Call a method before and after a file was written, written again, or removed."""
    fs, start = target.filesystem, f"{path}{_AGAIN}-{next(_numbers)}"
    write_beside(target, start, "/first", b"1")
    at = f"{start}/first" if again in _OF_ENTRY else start
    before = _asked(fs, again, at)
    if again in ("exists", "isfile"):
        fs.rm_file(at)
    else:
        write_beside(target, start, "/first" if again == "info" else "/second", b"22")
    fs.invalidate_cache()
    after = _asked(fs, again, at)
    if again == "info":
        return after["size"]
    return (before, after) if again in _OF_ENTRY else tuple(sorted(after))


_OF_ENTRY = ("info", "exists", "isfile")
#: Numbers of directories, each of which changes once.
_numbers = itertools.count()


def _asked(fs: Any, method: str, at: str) -> Any:
    """Return what a method returns; of a listing, the last names of its paths."""
    if method in _OF_ENTRY:
        return getattr(fs, method)(at)
    return [name.rstrip("/").rpartition("/")[2] for name in _listed(fs, method, at)]


def _listed(fs: Any, lister: str, directory: str) -> list[str]:
    """Return the names or paths of the files that a method lists in a directory."""
    method, _, detail = lister.partition(" ")
    if method == "ls":
        found = several(fs.ls(directory, detail=bool(detail)))
        return [one["name"] for one in found] if detail else list(found)
    if method == "walk":
        return [f"{directory}/{name}" for _, _, files in fs.walk(directory) for name in files]
    if method == "glob":
        return list(fs.glob(f"{directory}/*"))
    return list(fs.du(directory, total=False) if method == "du" else fs.find(directory))


def _many(target: Target, path: str, lister: str) -> tuple[int, int]:
    fs = target.filesystem
    with many_files(target, path, partial(fs.rm, recursive=True)):
        return count_many(_listed(fs, lister, path + MANY))


def _named(target: Target, path: str, caller: str, name: str) -> Any:
    fs, at = target.filesystem, path + named_end(name)
    directory = f"{_UNUSUAL}/{name}"
    if caller == "ls details":
        return tuple(
            _entry(info, directory) for info in several(fs.ls(path + directory, detail=True))
        )
    if caller in LISTERS:
        return tuple(below(one, directory) for one in _listed(fs, caller, path + directory))
    if caller == "info":
        return _entry(fs.info(at), directory)
    if not caller.startswith("get"):
        result = getattr(fs, caller)(at)
        return plain_bytes(result) if caller in _READS else result
    with tempfile.TemporaryDirectory() as local:
        if caller == "get":
            fs.get(path + directory, f"{local}/", recursive=True)
            found = files_below(Path(local))
            return tuple((normalize("NFC", one).casefold(), data) for one, data in found)
        fs.get_file(at, str(Path(local, "copy")))
        return Path(local, "copy").read_bytes()


_READS = ("cat", "cat_file", "head", "tail")


def _time(target: Target, path: str, time: str) -> bool:
    return isinstance(getattr(target.filesystem, TIMES[time])(path), datetime)


_RUNS: dict[str, Callable[..., Any]] = {
    "fs_ls": _ls,
    "fs_find": _find,
    "fs_entry": _entry_of_file,
    "fs_glob": _glob,
    "fs_glob_with": _glob_with,
    "fs_walk": _walk,
    "fs_du": _du,
    "fs_directory": _kind,
    "fs_cat_tree": _cat_tree,
    "fs_expand": _expand,
    "fs_listed_again": _listed_again,
    "fs_many": _many,
    "fs_named": _named,
    "fs_time": _time,
}


# Source code ---------------------------------------------------------------------------------

_BELOW = f'below = lambda name: name.casefold().partition({quoted(LISTED)})[2].strip("/")'


def spell_listing(step: Step) -> Call | None:
    """Return a step as a call of the filesystem `fs` on the directory; None if it is none."""
    spell = _SPELLINGS.get(step.op)
    if spell is None:
        return None
    call, text, *more = spell(*step.args)
    if step.op not in _OWN_FILES:
        directories = dict.fromkeys(name.rpartition("/")[0] for name in _WRITTEN)
        more = [f"fs.makedirs(path + {quoted(one)}, exist_ok=True)" for one in directories]
        more += [f"fs.pipe_file(path + {quoted(n)}, {bytes_text(d)})" for n, d in _WRITTEN.items()]
        more += [f"tree = path + {quoted(LISTED)}", _BELOW]
    imports = tuple(line for word, line in _IMPORTS.items() if word in text)
    return Call(text, Form.EQUAL, before=(*more, f"found = {call}"), shown=call, imports=imports)


_IMPORTS = {"datetime": "import datetime", "Path(": "from pathlib import Path"}
#: Operations whose spelling writes other files than those of the tree, or none.
_OWN_FILES = _WITHOUT_TREE | {"fs_named"}
_NAMES = "sorted(map(below, found))"
_PAIRS = "sorted([below(key), value] for key, value in found.items())"


def _spell_entries(infos: str, name: str) -> str:
    size = 'one["size"] if one["type"] == "file" else None'
    return f'sorted([below({name}), one["type"], {size}] for {infos})'


_DETAILED = _spell_entries("name, one in found.items()", "name")


def _options(options: Mapping[str, Any]) -> str:
    return "".join(f", {name}={value!r}" for name, value in options.items())


def _spell_ls(listed: str) -> tuple[str, ...]:
    end, detail = LISTINGS[listed]
    call = f"fs.ls(tree{f' + {quoted(end)}' if end else ''}, detail={detail})"
    return call, _spell_entries("one in found", 'one["name"]') if detail else _NAMES


def _spell_entry() -> tuple[str, ...]:
    text = 'next([one["type"], one["size"]] for one in found if one["name"].endswith(name))'
    named = 'name = path.rpartition("/")[2]'
    return 'fs.ls(path.rpartition("/")[0], detail=True)', text, named


def _spell_glob_with(globbed: str) -> tuple[str, ...]:
    pattern, options = GLOBS[globbed]
    call = f"fs.glob(tree + {quoted('/' + pattern)}{_options(options)})"
    return call, _DETAILED if "detail" in options else _NAMES


def _spell_find(found: str) -> tuple[str, ...]:
    options = SEARCHES[found]
    return f"fs.find(tree{_options(options)})", _DETAILED if "detail" in options else _NAMES


def _spell_walk(walked: str) -> tuple[str, ...]:
    names = "sorted(one.casefold().strip('/') for one in {})"
    triple = f"[below(at), {names.format('inside')}, {names.format('files')}]"
    walk = f"fs.walk(tree{_options(WALKS[walked])})"
    if walked != "pruned":
        return f"[*{walk}]", f"[{triple} for at, inside, files in found]"
    copied = "(at, [*inside], [*files], inside.clear())"
    call = f"[{copied} for at, inside, files in {walk}]"
    return call, f"[{triple} for at, inside, files, _ in found]"


def _spell_du(used: str) -> tuple[str, ...]:
    shown = "found" if not SPACES[used] else _NAMES if "withdirs" in SPACES[used] else _PAIRS
    return f"fs.du(tree{_options(SPACES[used])})", shown


def _spell_kind(method: str) -> tuple[str, ...]:
    if method != "isdir":
        return f"fs.{method}(tree)", 'found["type"]' if method == "info" else "found"
    ends = ", ".join(f"tree + {quoted(end)}" for end in ("/", "/sub/deep", f"/{_ONE}"))
    paths = f"tree, {ends}, tree[:-1], path + {quoted('.missing')}"
    return f"[fs.isdir(one) for one in [{paths}]]", "found"


def _spell_expand(expanded: str) -> tuple[str, ...]:
    patterns = ", ".join(f"tree + {quoted(f'/{one}')}" for one in EXPANDED[expanded])
    given = f"[{patterns}]" if patterns else "tree, recursive=True"
    return f"fs.expand_path({given})", _NAMES


def _spell_listed(lister: str) -> str:
    """Return the call that lists the names or paths of the files in `start`."""
    method, _, detail = lister.partition(" ")
    if method == "ls":
        named = f"fs.ls(start, detail={bool(detail)})"
        return f'[one["name"] for one in {named}]' if detail else named
    if method == "walk":
        return "[name for _, _, files in fs.walk(start) for name in files]"
    if method == "glob":
        return 'fs.glob(start + "/*")'
    return f"fs.{method}(start{', total=False' if method == 'du' else ''})"


_LAST = 'sorted(name.rstrip("/").rpartition("/")[2] for name in {})'
_MAKING = "fs.makedirs(start, exist_ok=True)"


def _spell_again(again: str) -> tuple[str, ...]:
    started = f"start = path + {quoted(_AGAIN)}", _MAKING, 'fs.pipe_file(start + "/first", b"1")'
    if again not in _OF_ENTRY:
        call = _spell_listed(again)
        changed = 'fs.pipe_file(start + "/second", b"22")'
        return call, _LAST.format("found"), *started, f"{call}, {changed}", _INVALIDATED
    call = f'fs.{again}(start + "/first")'
    if again == "info":
        changed = 'fs.pipe_file(start + "/first", b"22")'
        return call, 'found["size"]', *started, call, changed, _INVALIDATED
    removed = 'fs.rm_file(start + "/first")'
    return call, "[before, found]", *started, f"before = {call}", removed, _INVALIDATED


_INVALIDATED = "fs.invalidate_cache()"


def _spell_many(lister: str) -> tuple[str, ...]:
    named = f'names = [f"n{{number:04}}" for number in range({MANY_FILES})]'
    written = 'for name in names: fs.pipe_file(f"{start}/{name}", b"1")'
    counted = f"last = {_LAST.format(f'[*{_spell_listed(lister)}]')}"
    text = "[len({*last} & {*names}), len(last) - len({*last} & {*names})]"
    started = f"start = path + {quoted(MANY)}", _MAKING, named, written, counted
    return _spell_listed(lister), text, *started


def _spell_named(caller: str, name: str) -> tuple[str, ...]:
    started = f"start = path + {quoted(f'{_UNUSUAL}/{name}')}", _MAKING
    named = f"name = start + {quoted(f'/{NAMED[name]}')}"
    before = *started, named, f"fs.pipe_file(name, {bytes_text(OTHER)})"
    entry = '[{0}["name"].rpartition("/")[2], {0}["type"], {0}["size"]]'
    if caller == "ls details":
        return "fs.ls(start, detail=True)", f"[{entry.format('one')} for one in found]", *before
    if caller in LISTERS:
        return _spell_listed(caller), _LAST.format("found"), *before
    if caller == "get":
        copies = f"Path(local, {quoted(name)}).iterdir()"
        text = f"[[{quoted(name + '/')} + one.name, one.read_bytes()] for one in {copies}]"
        return (
            "fs.get(start, local, recursive=True)",
            text,
            *before,
            'local = tempfile.mkdtemp() + "/"',
        )
    if caller == "get_file":
        local = 'local = os.path.join(tempfile.mkdtemp(), "copy")'
        return "fs.get_file(name, local)", "Path(local).read_bytes()", *before, local
    return f"fs.{caller}(name)", entry.format("found") if caller == "info" else "found", *before


_SPELLINGS: dict[str, Callable[..., tuple[str, ...]]] = {
    "fs_ls": _spell_ls,
    "fs_find": _spell_find,
    "fs_entry": _spell_entry,
    "fs_glob": lambda pattern: (f"fs.glob(tree + {quoted('/' + pattern)})", _NAMES),
    "fs_glob_with": _spell_glob_with,
    "fs_walk": _spell_walk,
    "fs_du": _spell_du,
    "fs_directory": _spell_kind,
    "fs_cat_tree": lambda: ('fs.cat(tree, recursive=True, on_error="omit")', _PAIRS),
    "fs_expand": _spell_expand,
    "fs_listed_again": _spell_again,
    "fs_many": _spell_many,
    "fs_named": _spell_named,
    "fs_time": lambda time: (f"fs.{TIMES[time]}(path)", "isinstance(found, datetime.datetime)"),
}
