"""L10: read(-1) of a member of arpy returns the rest of the archive."""

import io

import arpy


def member(name, data):
    head = b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name, 0, 0, 0, b"100644", len(data))
    return head + data


stored = b"!<arch>\n" + member(b"one/", b"open") + member(b"two/", b"secret")
archive = arpy.Archive(fileobj=io.BytesIO(stored))
archive.read_all_headers()
f = archive.archived_files[b"one"]
rest = f.read(-1)  # expected b"open", as f.read() returns
position = f.tell()  # expected 4

print(rest, position)
assert rest.startswith(b"open")
assert rest.endswith(b"secret")
assert position == -1
