"""Program of finding C7: print whether a traced thread ends.

An exception is sent to a waiting thread, and a traced thread then tries to call a function.
"""

import ctypes
import os
import sys
import threading


class Stop(BaseException):
    """Exception for the waiting thread."""


def wait_for_nothing() -> None:
    """Do nothing: the traced thread calls it."""


def main() -> None:
    """Send the exception, trace, and print whether the traced thread ended."""
    waiting, never, done = threading.Event(), threading.Event(), threading.Event()

    def wait() -> None:
        waiting.set()
        never.wait()

    def traced() -> None:
        sys.settrace(lambda frame, event, arg: None)
        wait_for_nothing()
        done.set()

    blocked = threading.Thread(target=wait, daemon=True)
    blocked.start()
    waiting.wait()
    while sys._current_frames()[blocked.ident or 0].f_code is wait.__code__:
        pass  # not in the wait yet
    send = ctypes.pythonapi.PyThreadState_SetAsyncExc
    send(ctypes.c_ulong(blocked.ident or 0), ctypes.py_object(Stop))
    threading.Thread(target=traced, daemon=True).start()
    # Python 3.11 never gets there; others do, at once or when the machine has time for it.
    print(done.wait(2 if sys.version_info[:2] == (3, 11) else 900))
    sys.stdout.flush()
    os._exit(0)  # the traced thread may never end


if __name__ == "__main__":
    main()
