"""H6: an invalid buffer size is refused although it is optional."""

from hadoop import outcome, path, raw

key = "fs.option.openfile.buffer.size"
seen = [
    outcome(lambda: raw.openFile(path).opt(key, "abc").build().get().read()),
    outcome(lambda: raw.openFile(path).opt(key, "-1").build().get().read()),
]
assert seen == [0, 0], seen
