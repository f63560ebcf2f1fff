"""Calls of a filesystem that read without an opened stream, as operations of programs.

Each takes the path of the program's file, whatever its stream did. Some also take the path of
another file (`OTHER`), or one at which there is no file.
"""

from __future__ import annotations

import gzip
from typing import Any

from fscontract.contract.program.arguments import Argument, is_number

#: The operations with the names of their arguments. `begin`, `end`, `at` and `count` are numbers,
#: None for no limit. `delimiter` is hexadecimal, "" for none. `fs_cat_file_positional` has
#: positional arguments, `fs_cat_file` keywords. `fs_head` and `fs_tail` leave out `count` if None.
FILESYSTEM_OPERATIONS: dict[str, tuple[str, ...]] = {
    "fs_cat_file": ("begin", "end"),
    "fs_cat_file_positional": ("begin", "end"),
    "fs_read_bytes": ("begin", "end"),
    "fs_cat_missing": (),
    "fs_cat_ranges": ("paths", "begins", "ends", "on_error"),
    "fs_cat": ("paths", "on_error"),
    "fs_read_block": ("at", "count", "delimiter"),
    "fs_head": ("count",),
    "fs_tail": ("count",),
    "fs_get_file": ("path",),
    "fs_get_leaves": (),
    "fs_info": ("key",),
    "fs_size": (),
    "fs_sizes": ("paths",),
    "fs_exists": ("path",),
    "fs_isfile": ("path",),
    "fs_checksum": (),
    "fs_ukey": ("how",),
    "fs_text": ("path", "way", "encoding", "errors", "newline"),
    "fs_pickle": ("what",),
}
#: Copies to local paths by `get`. `fs_get_file_again` copies to one at which a longer file is, and
#: `fs_get_missing_leaves` returns whether it leaves a file.
GET_OPERATIONS: dict[str, tuple[str, ...]] = {
    "fs_get": ("copied",),
    "fs_get_file_again": (),
    "fs_get_missing": (),
    "fs_get_missing_leaves": (),
}
#: The files below the directory TREE, beside the program's file, that `get` copies.
TREE = ".copied/tree"
TREE_FILES = {"one": b"the first file", "sub/two": b"the \xff second", "sub/empty": b""}
#: For each call of `get` the local files that it makes, with the names of their sources.
COPIES: dict[str, dict[str, str]] = {
    "file": {"copy": "file"},
    "file into directory": {"one": "one"},
    "file into new directory": {"new/one": "one"},
    "lists": {"first": "sub/two", "second": "file"},
    "list into directory": {"one": "one", "two": "sub/two"},
    "directory": {f"new/{name}": name for name in TREE_FILES},
    "directory into directory": {f"tree/{name}": name for name in TREE_FILES},
    "content of directory": {name: name for name in TREE_FILES},
    "pattern": {"one": "one"},
}
#: Listings of the directory LISTED by `ls`, `find`, `glob`, `walk` and `du`, and what `isdir`,
#: `isfile` and `info` return for it. `fs_cat_tree` reads all files below it, `fs_expand` returns
#: their paths. `fs_listed_again` asks again after a file was written or removed, `fs_many` lists a
#: directory of MANY files, `fs_named` calls a method with a file whose name is one of NAMED, and
#: `fs_time` returns whether a time has the right type.
LISTING_OPERATIONS: dict[str, tuple[str, ...]] = {
    "fs_ls": ("listed",),
    "fs_find": ("found",),
    "fs_entry": (),
    "fs_glob": ("pattern",),
    "fs_glob_with": ("globbed",),
    "fs_walk": ("walked",),
    "fs_du": ("used",),
    "fs_directory": ("kind",),
    "fs_cat_tree": (),
    "fs_expand": ("expanded",),
    "fs_listed_again": ("again",),
    "fs_many": ("lister",),
    "fs_named": ("caller", "name"),
    "fs_time": ("time",),
}
#: The files below the directory LISTED, and those beside it whose paths begin alike.
LISTED = ".listed/tree"
LISTED_FILES = {
    "one": b"the first file",
    "sub/two": b"the second",
    "sub/a.b": b"a dot",
    "sub/empty": b"",
    "sub/deep/.three": b"3",
    "sub/deep/a/b/c/six": b"the sixth",
}
#: The directories below LISTED.
LISTED_DIRECTORIES = sorted(
    {name[:at] for name in LISTED_FILES for at, one in enumerate(name) if one == "/"}
)
BESIDE_LISTED = {f"{LISTED}-more/four": b"the fourth", f"{LISTED}.txt": b"the fifth"}
#: For each call of `ls` the end of the path, and `detail`.
LISTINGS: dict[str, tuple[str, bool]] = {
    "names": ("", False),
    "details": ("", True),
    "names with a slash": ("/", False),
    "names below": ("/sub", False),
    "details below": ("/sub", True),
}
#: The options of each call of `find`. They have names, so that none is shrunk.
SEARCHES: dict[str, dict[str, Any]] = {
    "all levels": {},
    "1 level": {"maxdepth": 1},
    "2 levels": {"maxdepth": 2},
    "directories": {"withdirs": True},
    "details": {"detail": True},
    "1 level of details": {"maxdepth": 1, "detail": True},
}
#: The patterns of `glob`, and the files and the directories that each matches.
MATCHED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "*": (("one",), ("sub",)),
    "?n?": (("one",), ()),
    "[no]ne": (("one",), ()),
    "[!a-n]n*": (("one",), ()),
    "sub/*": (("sub/a.b", "sub/empty", "sub/two"), ("sub/deep",)),
    "s?b/*o": (("sub/two",), ()),
    "sub/*.b": (("sub/a.b",), ()),
    "sub/*.o": ((), ()),
    "**/two": (("sub/two",), ()),
    "*/": ((), ("sub",)),
    "one": (("one",), ()),
    "none": ((), ()),
}
#: A pattern and options of `glob`.
GLOBS: dict[str, tuple[str, dict[str, Any]]] = {
    "details": ("sub/*", {"detail": True}),
    "all levels": ("**", {}),
    "1 level": ("**", {"maxdepth": 1}),
}
#: The options of each call of `walk`; "pruned" removes the names of all directories that it gets.
WALKS: dict[str, dict[str, Any]] = {
    "all levels": {},
    "1 level": {"maxdepth": 1},
    "2 levels": {"maxdepth": 2},
    "bottom up": {"topdown": False},
    "pruned": {},
}
#: The options of each call of `du`.
SPACES: dict[str, dict[str, Any]] = {
    "total": {},
    "files": {"total": False},
    "files of 1 level": {"total": False, "maxdepth": 1},
    "files and directories": {"total": False, "withdirs": True},
}
#: What `expand_path` expands: the directory, or patterns.
EXPANDED: dict[str, tuple[str, ...]] = {"directory": (), "patterns": ("one*", "sub/t*", "sub/a*")}
#: Calls of which the second follows a change of the directory, and `invalidate_cache`.
AGAIN = ("ls", "find", "glob *", "walk", "info", "exists", "isfile")
#: More entries than any page that stores list by default has, but those of some.
MANY, MANY_FILES = ".many/files", 1050
LISTERS = ("ls", "ls details", "find", "glob *", "walk", "du")
#: Names with white space, of another script, with characters of URLs; and all of them.
NAMED: dict[str, str] = {
    "words": "two words",
    "script": "d\u00e9j\u00e0-\u6587",
    "percent": "100%25",
    "plus": "a+b&c=d",
    "mixed": "a b%20c+d\u00e9",
}
CALLERS = (
    *LISTERS[:-1],
    *("info", "size", "exists", "isfile", "cat", "cat_file", "head", "tail", "get_file", "get"),
)
TIMES = {"of creation": "created", "of modification": "modified"}
#: Opens of fsspec with options. `fs_open_cached` reads ranges of a file, `fs_decompress` reads
#: OTHER from a compressed file, and `fs_open_urls` opens paths by their URLs.
OPEN_OPERATIONS: dict[str, tuple[str, ...]] = {
    "fs_open_cached": ("cache", "block"),
    "fs_decompress": ("codec", "chosen", "opener", "reading"),
    "fs_open_urls": ("paths",),
}
#: The caches of `fs_open_cached`. fsspec's cache "parts" is left out: it has the bytes that it was
#: given, and may have zeros in place of others.
CACHES = (
    *("none", "mmap", "bytes", "readahead", "adaptive", "blockcache", "first", "all"),
    "background",
)
#: The block sizes that it gives to `open`, in bytes. They have names, so that none is shrunk.
BLOCKS = {"48 bytes": 48, "4 KiB": 4096}
#: Positions at which it reads, from the end if negative, and numbers of bytes, None for all.
CACHED_READS: tuple[tuple[int, int | None], ...] = ((-4, 2), (1, 3), (60, 90), (0, None))
#: The suffix of each codec of fsspec, and a compressed file.
CODECS = {"gzip": ".gz", "bz2": ".bz2", "xz": ".xz"}
#: What is pickled: a filesystem, or an OpenFile of the file or of the file GZIPPED.
PICKLED = ("filesystem", "open file", "compressed open file")
#: Reads of a filesystem or an OpenFile that was pickled and unpickled in another process.
PROCESS_OPERATIONS: dict[str, tuple[str, ...]] = {"fs_other_process": ("what",)}
#: Coroutines of an asynchronous filesystem of fsspec. `fs_async_read` reads a stream of open_async
#: to its end, `count` bytes at a time (None: in one call); `fs_async_seek` reads it from `at`,
#: before its end if that is negative.
ASYNC_OPERATIONS: dict[str, tuple[str, ...]] = {
    "fs_async_cat_file": ("begin", "end"),
    "fs_async_cat_missing": (),
    "fs_async_cat_ranges": ("paths", "begins", "ends", "on_error"),
    "fs_async_cat": ("paths", "on_error"),
    "fs_async_info": ("key",),
    "fs_async_read": ("count",),
    "fs_async_seek": ("at",),
    "fs_async_closed": (),
}
#: Methods of a cache, each of which may be the first to read a file.
FIRST_READS = ("cat", "cat_file", "cat_ranges", "head", "open")
#: Reads through a filesystem of fsspec in front of another one. A file is read, changed or deleted
#: behind it, and read again, by a cache that checks files (`check_files`), or by one that does not,
#: or after its copy has expired; or a file of which the cache has no copy is read by each method,
#: or by a thread while another one copies it.
CHAIN_OPERATIONS: dict[str, tuple[str, ...]] = {
    **{f"fs_chain_first_{method}": () for method in FIRST_READS},
    "fs_chain_checked": ("change",),
    "fs_chain_deleted": (),
    "fs_chain_unchecked": ("change",),
    "fs_chain_expired": ("change",),
    "fs_chain_threads": (),
    "fs_chain_cache_threads": (),
    "fs_chain_directory": (),
}
#: The bytes of such a file before it changes.
CHAIN_CONTENT = b"abcdefgh"
#: Calls of PyArrow's filesystems and of the files that they open. `pa_independent` reads a stream
#: of get_stream between reads of the file and of another stream; `pa_file_position` reads a byte of
#: the file after it; `pa_compressed` reads the file GZIPPED. `pa_select` lists LISTED, `pa_many` a
#: directory of MANY files, and `pa_named` finds or reads a file with a name of NAMED.
ARROW_OPERATIONS: dict[str, tuple[str, ...]] = {
    "pa_read_at": ("at", "count"),
    "pa_get_stream": ("at", "count"),
    "pa_independent": ("at", "count"),
    "pa_file_position": (),
    "pa_read_buffer": ("at", "count"),
    "pa_input_stream": ("count", "buffer"),
    "pa_compressed": ("compression",),
    "pa_size": (),
    "pa_metadata": (),
    "pa_missing": ("opens",),
    "pa_info": ("path", "field"),
    "pa_infos": ("paths",),
    "pa_directory": (),
    "pa_select": ("selected",),
    "pa_select_again": (),
    "pa_many": ("lister",),
    "pa_named": ("asked", "name"),
    "pa_normalized": (),
}
#: Selectors of the directory LISTED, or of one that is missing, with their options.
SELECTORS: dict[str, dict[str, Any]] = {
    "entries": {},
    "all levels": {"recursive": True},
    "missing": {},
    "missing allowed": {"allow_not_found": True},
}
#: Listings by PyArrow of a directory before and after a file is written, or of MANY files.
ARROW_LISTERS = ("selector", "paths")
#: What is asked for of a file with an unusual name.
ASKED = ("select", "info", "open_input_file", "open_input_stream")
#: Calls of obstore's stores. `ob_get_result` has a part of the result of a get, `ob_stream` its
#: bytes in chunks of at least `count`; readers go to `at` first.
OBSTORE_OPERATIONS: dict[str, tuple[str, ...]] = {
    "ob_get": ("begin", "end", "waits"),
    "ob_get_suffix": ("count", "waits"),
    "ob_get_result": ("begin", "end", "part", "waits"),
    "ob_stream": ("count", "waits"),
    "ob_get_range": ("begin", "end", "given", "waits"),
    "ob_get_ranges": ("begins", "ends", "given", "waits"),
    "ob_head": ("waits",),
    "ob_missing": ("method", "waits"),
    "ob_reader": ("at", "count", "waits"),
    "ob_reader_size": ("waits",),
}
#: Calls of OpenDAL's operators, and of the files that they open.
OPENDAL_OPERATIONS: dict[str, tuple[str, ...]] = {
    "od_read": ("at", "count", "waits"),
    "od_missing": ("waits",),
    "od_file": ("at", "count", "waits"),
    "od_seek": ("at", "waits"),
    "od_stat": ("waits",),
    "od_exists": ("path", "waits"),
}
#: Files that other libraries write and read. `seed` chooses the data, and what is read of them;
#: `rows` is their size: the rows of a table, or the numbers in an archive.
READER_OPERATIONS: dict[str, tuple[str, ...]] = {
    "lib_parquet": ("seed", "rows"),
    "lib_csv": ("seed", "rows"),
    "lib_zip": ("seed", "rows"),
}
#: Calls that return all bytes of the file, with their arguments.
WHOLE_READS: dict[str, tuple[Argument, ...]] = {
    "fs_cat_file": (None, None),
    "fs_get_file": ("file",),
    "pa_get_stream": (0, "len"),
    "pa_input_stream": (None, 0),
    "ob_get": (None, None, "sync"),
    "ob_stream": (7, "sync"),
    "od_read": (None, None, "sync"),
}
#: Arrays that Zarr writes, and reads through an fsspec filesystem: with a file for each chunk, with
#: several chunks in a file, and without the files of some chunks. `rows` is about their size.
ZARR_OPERATIONS: dict[str, tuple[str, ...]] = {
    "lib_zarr_chunks": ("seed", "rows"),
    "lib_zarr_shards": ("seed", "rows"),
    "lib_zarr_missing": ("seed", "rows"),
}
#: The largest seed and number of rows.
MAX_SEED, MAX_ROWS = 1 << 32, 10_000
#: The operations of each feature that declares them, and all of them.
OF_FEATURE: dict[str, dict[str, tuple[str, ...]]] = {
    "fsspec-filesystem": {
        **FILESYSTEM_OPERATIONS,
        **GET_OPERATIONS,
        **LISTING_OPERATIONS,
        **OPEN_OPERATIONS,
        **PROCESS_OPERATIONS,
        **ASYNC_OPERATIONS,
        **CHAIN_OPERATIONS,
    },
    "pyarrow-filesystem": ARROW_OPERATIONS,
    "obstore-store": OBSTORE_OPERATIONS,
    "opendal-operator": OPENDAL_OPERATIONS,
    "library-readers": {**READER_OPERATIONS, **ZARR_OPERATIONS},
}
WITHOUT_STREAM = {op: names for found in OF_FEATURE.values() for op, names in found.items()}
#: The feature of each operation.
FEATURE_OF = {op: feature for feature, found in OF_FEATURE.items() for op in found}
#: The program's file, another one, a path without a file, one that the other file's path begins
#: with, a file that was read the same way before it was written again, and one that was asked for
#: before it was written.
PATHS = ("file", "other", "missing", "prefix", "rewritten", "created")
#: A pattern that matches the other file alone.
GLOB = "glob"
#: The bytes of the other file: lines of text with every kind of ending.
OTHER = "one\r\ntwo\nthr\u00e9e\rfour\n\nlast".encode()
#: The bytes of the rewritten file. Before, it has those of the other file.
REWRITTEN = b"written again"
#: The bytes of a compressed file at a path that ends with GZIP.
GZIP, GZIPPED = ".gz", gzip.compress(OTHER, mtime=0)
#: The end of each of these paths, and of the pattern.
SUFFIXES = {
    "file": "",
    "other": ".other",
    "missing": ".missing",
    "prefix": ".oth",
    "rewritten": ".rewritten",
    "created": ".created",
    GLOB: ".oth*",
}

_CHOICES: dict[str, tuple[Any, ...]] = {
    "path": PATHS,
    "on_error": ("default", "raise", "return", "omit"),
    "key": ("name", "size", "type"),
    "how": ("same", "changed"),
    "way": ("read", "lines", "read_text"),
    "encoding": ("utf-8", "latin-1", "utf-16"),
    "errors": ("strict", "replace", "ignore"),
    "newline": (None, "", "\n", "\r", "\r\n"),
    "what": PICKLED,
    "compression": ("detect", "gzip", "none"),
    "opens": ("open_input_file", "open_input_stream"),
    "change": ("same size", "longer", "shorter"),
    "copied": tuple(COPIES),
    "listed": tuple(LISTINGS),
    "found": tuple(SEARCHES),
    "pattern": tuple(MATCHED),
    "globbed": tuple(GLOBS),
    "walked": tuple(WALKS),
    "used": tuple(SPACES),
    "expanded": tuple(EXPANDED),
    "again": AGAIN,
    "lister": (*LISTERS, *ARROW_LISTERS),
    "caller": CALLERS,
    "name": tuple(NAMED),
    "time": tuple(TIMES),
    "selected": tuple(SELECTORS),
    "asked": ASKED,
    "kind": ("isdir", "isfile", "info"),
    "cache": CACHES,
    "block": tuple(BLOCKS),
    "codec": tuple(CODECS),
    "chosen": ("named", "infer"),
    "opener": ("fs.open", "OpenFile"),
    "reading": ("all", "parts", "text"),
    "waits": ("sync", "async"),
    "part": ("range", "size"),
    "given": ("end", "length", "apart"),
    "method": ("get", "head", "get_range", "open_reader"),
    "field": ("type", "size", "path", "base_name"),
}
_LIMITS = frozenset({"begin", "end", "at", "count", "buffer"})
_LISTS = frozenset({"begins", "ends"})
_BOUNDED = {"seed": MAX_SEED, "rows": MAX_ROWS}


def others_of(step_args: tuple[Argument, ...]) -> frozenset[str]:
    """Return the files beside that of the program that a call needs: other, rewritten, created."""
    named = {arg for one in step_args for arg in (one if isinstance(one, tuple) else (one,))}
    other = {"other"} if named & {"other", "prefix", GLOB} else set()
    return frozenset(other | named & {"rewritten", "created"})


def reads_of(length: int) -> list[tuple[int, int | None]]:
    """Return the CACHED_READS of a file of this length, with positions from its start."""
    return [(at if at >= 0 else max(length + at, 0), count) for at, count in CACHED_READS]


def problem(name: str, value: Argument) -> str:
    """Return what an argument of such a call must be, "" if it is valid."""
    if name in _LIMITS:
        return "" if value is None or is_number(value) else "a whole number, an anchor or null"
    if name in _BOUNDED:
        fits = type(value) is int and 0 <= value <= _BOUNDED[name]
        return "" if fits else f"a whole number from 0 to {_BOUNDED[name]}"
    if name in _LISTS:
        numbers = value if isinstance(value, tuple) else (value,)
        return "" if all(map(is_number, numbers)) else "a whole number, or a list of them"
    if name == "paths":
        named = value if isinstance(value, tuple) else (value,)
        allowed = PATHS if isinstance(value, tuple) else (*PATHS, GLOB)
        return "" if all(one in allowed for one in named) else f"a list of {', '.join(PATHS)}"
    if name == "delimiter":
        return "" if _is_hex(value) else "hexadecimal bytes"
    return "" if value in _CHOICES[name] else " or ".join(map(repr, _CHOICES[name]))


def _is_hex(value: Argument) -> bool:
    try:
        bytes.fromhex(value)
    except (TypeError, ValueError):
        return False
    return True
