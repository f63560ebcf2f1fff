"""Targets whose streams have a bug in seek(), as the text of a module."""

from __future__ import annotations

#: Filesystems: their streams accept negative seeks, all or some of them, end the process, raise
#: another exception, share state, or hang.
TARGETS = """
import itertools
import os
import threading
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream

class Lenient(MemoryInputStream):
    def seek(self, position):
        super().seek(max(position, 0))

class Alternating(MemoryInputStream):
    seeks = itertools.count()

    def seek(self, position):
        super().seek(max(position, 0) if position < 0 and next(self.seeks) % 2 else position)

class Deadly(MemoryInputStream):
    def seek(self, position):
        os._exit(3) if position < 0 else super().seek(position)

class Raising(MemoryInputStream):
    def seek(self, position):
        return super().seek(position) if position >= 0 else {}["position"]

class Sharing(MemoryInputStream):
    unbuffered = []

    def unbuffer(self):
        super().unbuffer()
        self.unbuffered.append(self)

    def seek(self, position):
        super().seek(max(position, 0) if self.unbuffered else position)

class SharingTwoWays(Sharing):
    def seek(self, position):
        return {}["position"] if self.unbuffered and position < -1 else super().seek(position)

class Stuck(MemoryInputStream):
    def seek(self, position):
        while position < 0:
            pass
        super().seek(position)

class StuckOnceShared(Sharing):
    def seek(self, position):
        while position < 0 and self.unbuffered:
            pass
        MemoryInputStream.seek(self, position)

class DeadlyIfLong(Lenient):
    def seek(self, position):
        os._exit(3) if self._length() > 60_000 else super().seek(position)

class Blocking(Lenient):
    lock, held = threading.Lock(), threading.Lock()

    def skip(self, count):
        if count == 2:
            self.lock.acquire()
            self.held.acquire()
            self.held.acquire()
        return super().skip(count)

    def read_byte(self):
        with self.lock:
            return super().read_byte()

class Swallowing(Lenient):
    def skip(self, count):
        while count == 2:
            try:
                while True:
                    pass
            except BaseException:
                pass
        return super().skip(count)

def blocking():
    return MemoryFileSystem(stream_class=Blocking)

def swallowing():
    return MemoryFileSystem(stream_class=Swallowing)

def deadly_if_long():
    return MemoryFileSystem(stream_class=DeadlyIfLong)

def stuck():
    return MemoryFileSystem(stream_class=Stuck)

def stuck_once_shared():
    return MemoryFileSystem(stream_class=StuckOnceShared)

def alternating():
    return MemoryFileSystem(stream_class=Alternating)

def sharing():
    return MemoryFileSystem(stream_class=Sharing)

def sharing_two_ways():
    return MemoryFileSystem(stream_class=SharingTwoWays)

def raising():
    return MemoryFileSystem(stream_class=Raising)

def lenient():
    return MemoryFileSystem(stream_class=Lenient)

def deadly():
    return MemoryFileSystem(stream_class=Deadly)

def nothing():
    os._exit(0)
"""
