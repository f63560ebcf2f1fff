"""Run Python programs in forks of a process that has imported what most of them need.

`python warm_server.py SOCKET MODULE...` answers on a Unix socket until its standard input ends. A
request is the arguments of Python, the environment and the directory, as JSON, with the standard
descriptors of the program; the answers are its id, and its status as `os.waitpid` gives it.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import runpy
import select
import socket
import sys
import tempfile
import types
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

#: A program closes all descriptors below this one but the standard ones.
_DESCRIPTORS = 256
#: The size of the largest request.
_LARGEST = 1 << 20


def serve(path: str) -> Any:
    """Answer requests until standard input ends; in a fork, return the request of its program."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        print("ready", flush=True)
        while 0 not in select.select([listener.fileno(), 0], [], [])[0]:
            connection, _ = listener.accept()
            with connection:
                if os.fork() == 0:
                    return _answer(connection)
            _reap(os.WNOHANG)
    _reap(0)
    return None


def _reap(options: int) -> None:
    """Collect the forks that have sent their answers."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, options)[0]:
            pass


def _answer(connection: socket.socket) -> Any:
    """Send the status of a program; in the fork that is to run it, return its request."""
    data, descriptors, _, _ = socket.recv_fds(connection, _LARGEST, 3)
    while not data.endswith(b"\n"):
        data += connection.recv(_LARGEST)
    pid = os.fork()
    if pid == 0:
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
        return json.loads(data)
    os.closerange(0, 3)
    for descriptor in descriptors:
        os.close(descriptor)
    connection.sendall(b"%d\n" % pid)
    _, status = os.waitpid(pid, 0)
    connection.sendall(b"%d\n" % status)
    os._exit(0)


def become(request: Any) -> None:
    """Give the process the environment, the directory and the import path of a program."""
    os.closerange(3, _DESCRIPTORS)
    before = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["directory"])
    tempfile.tempdir = None
    assert isinstance(sys.stdout, io.TextIOWrapper)
    sys.stdout.reconfigure(line_buffering=os.isatty(1), write_through=_is_set("PYTHONUNBUFFERED"))
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:] = [*paths, *(path for path in sys.path if path not in before)]
    for path in paths:
        if path not in before and Path(path, "sitecustomize.py").exists():
            runpy.run_path(str(Path(path, "sitecustomize.py")))


def _is_set(variable: str) -> bool:
    return bool(os.environ.get(variable))


def run(arguments: list[str]) -> None:
    """Run a program by arguments of Python: -W error, one of -c TEXT, -m MODULE, FILE, and more."""
    if arguments[0] == "-W":
        warnings.simplefilter(arguments[1])  # type: ignore[arg-type]
        arguments = arguments[2:]
    kind = arguments[0]
    if kind == "-m":
        sys.path.insert(0, os.getcwd())
        sys.argv[:] = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    if kind == "-c":
        sys.path.insert(0, "")
        sys.argv[:] = ["-c", *arguments[2:]]
        exec(compile(arguments[1], "<string>", "exec"), main.__dict__)
        return
    main.__file__ = kind
    sys.path.insert(0, str(Path(kind).resolve().parent))
    sys.argv[:] = arguments
    exec(compile(Path(kind).read_bytes(), kind, "exec"), main.__dict__)


if __name__ == "__main__":
    del sys.path[0]  # the directory of this file
    for name in sys.argv[2:]:
        import_module(name)
    if "fscontract.contract.runner.runner" in sys.modules:
        from fscontract.contract.spec.clauses import clauses, retired

        clauses()
        retired()
    gc.collect()
    gc.freeze()
    if request := serve(sys.argv[1]):
        become(request)
        run(request["arguments"])
