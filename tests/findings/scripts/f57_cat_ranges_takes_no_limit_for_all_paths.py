"""F57: cat_ranges takes no limit for all paths before fsspec 2023.12.0."""

import fsspec

fs = fsspec.filesystem("memory")
fs.pipe({"/a": b"abcd", "/b": b"efgh"})
seen = fs.cat_ranges(["/a", "/b"], 1, 3)
assert seen == [b"bc", b"fg"], seen
