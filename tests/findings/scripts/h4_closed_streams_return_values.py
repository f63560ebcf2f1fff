"""H4: closed streams return values."""

from hadoop import buffer, local, path, raises, raw

f = raw.open(path)
f.close()
error = "java.lang.NullPointerException"  # expected IOException
assert raises(error, lambda: f.read(0, buffer(1), 0, 1))
f = local.open(path)
f.close()
assert f.read(0, buffer(1), 0, 1) == 1  # expected IOException
assert f.skip(0) == 0  # expected IOException
