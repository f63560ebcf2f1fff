"""C7: an exception sent to a blocked thread stops every traced thread."""

import ctypes
import sys
import threading


def wait():
    waiting.set()
    threading.Event().wait()


def nothing():
    pass


def traced():
    sys.settrace(lambda frame, event, arg: None)
    nothing()
    done.set()


waiting, done = threading.Event(), threading.Event()
blocked = threading.Thread(target=wait, daemon=True)
blocked.start()
waiting.wait()
while sys._current_frames()[blocked.ident].f_code is wait.__code__:
    pass  # the thread does not block yet
error = ctypes.py_object(KeyboardInterrupt)
ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(blocked.ident), error)
threading.Thread(target=traced, daemon=True).start()
ended = done.wait(2)

assert ended, "the traced thread hangs"
