"""F14: fsspec's buffered files take fewer arguments than files of io."""

from buffered import Store


def outcome(call, argument):
    try:
        return call(argument)
    except Exception as error:
        return error


file = Store().open("d/file")
seen = [outcome(file.readline, 2), outcome(file.readlines, 1)]

assert seen == [b"ab", [b"cde"]], seen
