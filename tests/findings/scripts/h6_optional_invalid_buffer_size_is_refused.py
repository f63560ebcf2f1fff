"""H6: an invalid buffer size is refused although it is optional."""

from hadoop import path, raises, raw

key = "fs.option.openfile.buffer.size"
error = "java.lang.NumberFormatException"  # expected the default
assert raises(error, lambda: raw.openFile(path).opt(key, "abc").build())
error = "java.util.concurrent.ExecutionException"  # of an IllegalArgumentException
assert raises(error, lambda: raw.openFile(path).opt(key, "-1").build().get())
