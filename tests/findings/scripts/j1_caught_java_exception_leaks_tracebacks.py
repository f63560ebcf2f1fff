"""J1: a caught Java exception leaks tracebacks."""

import gc
import types

import jpype

jpype.startJVM("-Xmx64m")
parse = jpype.JClass("java.lang.Integer").parseInt


def kept():
    gc.collect()
    return sum(isinstance(each, types.TracebackType) for each in gc.get_objects())


def fail(times):
    for _ in range(times):
        try:
            parse("x")
        except Exception:
            pass


fail(10)
before = kept()
fail(1000)
leaked = kept() - before
assert leaked == 0, leaked
