"""Reads by a pickled filesystem or OpenFile of fsspec in another process, and the same as source.

The kit pickles the object under test and loads it in a new Python process: nothing that comes from
a file is unpickled.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from fscontract.contract.binding import Action
from fscontract.contract.program.program import Step
from fscontract.contract.script.calls import Call, Form
from fscontract.implementations.bindings.file_operations import Fail
from fscontract.implementations.bindings.filesystem_calls import (
    Target,
    bind_call,
    compressed_beside,
    open_file_of,
    spell_open_file,
)
from fscontract.implementations.bindings.fsspec_quirks import layers_of, protocols

#: Protocols of filesystems whose files other processes see, too.
_SHARED = frozenset(
    {"file", "local", "http", "https", "ftp", "sftp", "ssh", "s3", "s3a", "gs", "gcs"}
    | {"abfs", "abfss", "az", "adl", "hdfs", "webhdfs"}
)
#: The time limit of the other process in seconds.
_TIMEOUT = 60
#: Reads the pickled pair of an object and a path, "" for an OpenFile, and writes the bytes.
_PROGRAM = """
import json, os, pickle, sys
out = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)
sys.path[:] = json.loads(sys.argv[1])
opened, path = pickle.load(sys.stdin.buffer)
out.write(opened.cat_file(path) if path else opened.open().read())
out.close()
"""


def process_operations(filesystem: Any) -> frozenset[str]:
    """Return the operations of PROCESS_OPERATIONS that a filesystem has.

    It has none if its files may exist in this process alone, or its class can't be imported.
    """
    layers = layers_of(filesystem)
    shared = bool(protocols(layers[-1]) & _SHARED)
    found = all(_is_importable(type(one)) for one in layers)
    return frozenset({"fs_other_process"} if shared and found else ())


def missing_processes() -> Mapping[str, str]:
    """Return why a filesystem lacks the operations, for reports."""
    return {"fs_other_process": "its files or its class may exist in one process alone"}


def bind_process(step: Step, target: Target, fail: Fail) -> Action:
    """Return a step of PROCESS_OPERATIONS as a function of an object with `path`."""
    return bind_call(_read, step, target, fail, compressed_beside(step))


def _read(target: Target, path: str, what: str) -> bytes:
    return read_in_other_process(target.filesystem, path, what)


def _is_importable(cls: type[Any]) -> bool:
    return cls.__module__ != "__main__" and "<locals>" not in cls.__qualname__


def read_in_other_process(filesystem: Any, path: str, what: str) -> bytes:
    """Return the bytes of a file as another process reads them.

    Raise RuntimeError with the other process's error, and TimeoutError if it can't be run.
    """
    given = (filesystem, path)
    if what != "filesystem":
        given = (open_file_of(filesystem, path, what), "")
    command = [sys.executable, "-c", _PROGRAM, json.dumps(sys.path)]
    data = pickle.dumps(given)
    try:
        done = subprocess.run(  # noqa: S603  # our own program
            command, input=data, capture_output=True, timeout=_TIMEOUT, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TimeoutError("the other process did not run") from error
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").split("\n")
        raise RuntimeError(f"in another process: {next(filter(None, reversed(lines)), '')}")
    return done.stdout


# Source code ---------------------------------------------------------------------------------


def spell_process(step: Step) -> Call | None:
    """Return a step as a read of `path` by a new process; None if it is none."""
    if step.op != "fs_other_process":
        return None
    whole = step.args == ("filesystem",)
    reading = "cat_file(path)" if whole else "open().read()"
    program = (
        "import pickle, sys; fs, path = pickle.load(sys.stdin.buffer); "
        f"sys.stdout.buffer.write(fs.{reading})"
    )
    name, written = ("fs", ()) if whole else spell_open_file(str(*step.args))
    before = (
        *written,
        f"program = '{program}'",
        f"given = pickle.dumps(({name}, path))",
        'command = [sys.executable, "-c", program]',
        "done = subprocess.run(command, input=given, stdout=subprocess.PIPE, check=True)",
    )
    imports = ("import subprocess", *(() if whole else ("from fsspec.core import OpenFile",)))
    shown = f"in another process: pickle.loads(pickle.dumps({name})).{reading}"
    return Call("done.stdout", Form.EQUAL, before=before, imports=imports, shown=shown)
