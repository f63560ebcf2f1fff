"""H18: skip(Long.MAX_VALUE) raises EOFException after the first byte of a local file."""

from hadoop import local, outcome, path, raw

largest = 2**63 - 1
seen = [outcome(lambda: raw.open(path).skip(largest))]
for filesystem in (raw, local):
    f = filesystem.open(path)
    f.read()
    seen.append(outcome(lambda f=f: f.skip(largest)))
assert not any(isinstance(each, Exception) for each in seen), seen
