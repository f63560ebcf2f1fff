"""H3: a positioned read far past the end raises an Error."""

from hadoop import buffer, path, raises, raw

f = raw.open(path)
error = "org.apache.hadoop.fs.FSError"  # expected -1 or an IOException
assert raises(error, lambda: f.read(2**63 - 1, buffer(1), 0, 1))
