"""H3: a positioned read far past the end raises an Error."""

from hadoop import IOException, buffer, outcome, path, raw

f = raw.open(path)
seen = outcome(lambda: f.read(2**63 - 1, buffer(1), 0, 1))
assert seen == -1 or isinstance(seen, IOException), repr(seen)
