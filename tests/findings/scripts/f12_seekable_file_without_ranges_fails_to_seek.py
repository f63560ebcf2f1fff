"""F12: a file is seekable although the server ignores ranges. Argument: URL of the file."""

import sys

import fsspec


def outcome(call, argument):
    try:
        return call(argument)
    except Exception as error:
        return error


fs = fsspec.filesystem("http")
whole = fs.cat_file(sys.argv[1])
with fs.open(sys.argv[1], block_size=4096) as file:
    seekable = file.seekable()
    position = outcome(file.seek, 1)
    data = outcome(file.read, 1)

if seekable:
    right = position == 1 and data == whole[1:2]
else:
    right = isinstance(position, OSError) and data == whole[:1]
assert right, [seekable, position, data]
