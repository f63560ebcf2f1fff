"""H4: closed streams return values."""

from hadoop import IOException, buffer, local, outcome, path, raw

f = raw.open(path)
g = local.open(path)
f.close()
g.close()
seen = [
    outcome(lambda: f.read(0, buffer(1), 0, 1)),
    outcome(lambda: g.read(0, buffer(1), 0, 1)),
    outcome(lambda: g.skip(0)),
]
assert all(isinstance(each, IOException) for each in seen), seen
