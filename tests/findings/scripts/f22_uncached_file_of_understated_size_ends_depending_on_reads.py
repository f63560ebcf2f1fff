"""F22: without a cache, the end of a file of understated size depends on the reads."""

from buffered import Store

read = {}
for length in (-1, 2, 3, 9):
    f = Store().open("d/file", cache_type="none", size=1)
    read[length] = f.read(length)
    assert f.read(length) == b""
assert read == {-1: b"a", 2: b"ab", 3: b"abc", 9: b"abcde"}
