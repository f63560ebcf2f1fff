"""S27: obstore's LocalStore raises no OSError for a path below a file, and for an empty path."""

import tempfile

import obstore
from obstore.store import LocalStore

seen = []
with tempfile.TemporaryDirectory() as directory:
    store = LocalStore(directory)
    store.put("file", b"x")
    for path in ("file/below", ""):
        try:
            seen.append(obstore.open_reader(store, path))
        except Exception as error:
            seen.append(error)
below, empty = seen
assert isinstance(below, OSError) and isinstance(empty, (OSError, ValueError)), seen
