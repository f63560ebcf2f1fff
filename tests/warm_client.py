"""Run a Python program by the server of `tests/warm_server.py`, with few imports.

`python -IS warm_client.py SOCKET ARGUMENT...` runs it with the standard descriptors, the
environment and the directory of this process, which ends as it does.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FORWARDED = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


def status_of(
    path: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    directory: str,
    descriptors: Sequence[int],
    *,
    forwards: bool = False,
) -> int:
    """Return the exit code of a program, or the negative number of the signal that ended it.

    With `forwards`, signals to this process are sent to the program.
    """
    request = {
        "arguments": [*arguments],
        "environment": {**environment},
        "directory": directory,
    }
    if forwards:  # not before the program has an id
        signal.pthread_sigmask(signal.SIG_BLOCK, _FORWARDED)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        data = json.dumps(request).encode() + b"\n"
        sent = socket.send_fds(connection, [data], [*descriptors])
        connection.sendall(data[sent:])
        answers = connection.makefile()
        pid = int(answers.readline())
        for number in _FORWARDED if forwards else ():
            signal.signal(number, lambda number, _: os.kill(pid, number))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _FORWARDED if forwards else ())
        status = int(answers.readline())
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    code = status_of(sys.argv[1], sys.argv[2:], os.environ, os.getcwd(), (0, 1, 2), forwards=True)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)
