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
seen = [f.read(-1), f.tell()]
assert seen == [b"open", 4], seen
