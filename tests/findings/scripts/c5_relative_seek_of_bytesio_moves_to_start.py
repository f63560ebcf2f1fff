"""C5: a relative seek of BytesIO before the start moves to the start."""

import io

f = io.BytesIO(b"abc")
assert f.seek(-1, io.SEEK_CUR) == 0  # expected ValueError, as for f.seek(-1)
assert f.seek(-9, io.SEEK_END) == 0
