"""S27: obstore's LocalStore raises no OSError for a path below a file, and for an empty path."""

import tempfile

import obstore
from obstore.exceptions import GenericError
from obstore.store import LocalStore

with tempfile.TemporaryDirectory() as directory:
    store = LocalStore(directory)
    store.put("file", b"x")
    for path in ("file/below", ""):
        try:
            obstore.open_reader(store, path)
        except GenericError as error:  # expected an OSError
            assert not isinstance(error, OSError)
        else:
            raise SystemExit("fixed")
