"""L11: a member of python-debian has no last line if its size is odd."""

import io

from debian.arfile import ArFile

DATA = b"a: 1\nb: 2"  # nine bytes, so the archive pads them with a newline
head = b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (b"one/", 0, 0, 0, b"100644", len(DATA))
stored = b"!<arch>\n" + head + DATA + b"\n"

f = ArFile(fileobj=io.BytesIO(stored)).getmember("one")
lines = f.readlines()
f.seek(0)
nothing = f.read(0)
assert (lines, nothing) == ([b"a: 1\n", b"b: 2"], b""), (lines, nothing)
