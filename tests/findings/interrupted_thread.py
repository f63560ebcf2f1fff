"""A program of its own (finding C7): an exception is sent to a thread that waits, and another
thread, which is traced, tries to call a function. Prints whether that came back."""

import ctypes
import os
import sys
import threading


class Stop(BaseException):
    """Sent to the waiting thread."""


def wait_for_nothing() -> None:
    """Something to call."""


def main() -> None:
    """Send it, trace, and say whether the traced thread came to an end."""
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
