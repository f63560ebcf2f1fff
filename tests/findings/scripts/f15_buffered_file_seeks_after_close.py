"""F15: tell and seek of fsspec's buffered files work after close."""

from fsspec.spec import AbstractBufferedFile


def outcome(call, *arguments):
    try:
        return call(*arguments)
    except Exception as error:
        return error


file = AbstractBufferedFile(None, "it", size=5)
file.close()
seen = [outcome(file.seek, 3), outcome(file.tell)]

assert all(isinstance(each, ValueError) for each in seen), seen
