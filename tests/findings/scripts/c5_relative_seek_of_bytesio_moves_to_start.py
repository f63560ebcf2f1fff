"""C5: a relative seek of BytesIO before the start moves to the start."""

import io


def seek(offset, whence):
    try:
        return io.BytesIO(b"abc").seek(offset, whence)
    except Exception as error:
        return error


seen = [seek(-1, io.SEEK_SET), seek(-1, io.SEEK_CUR), seek(-9, io.SEEK_END)]

assert all(isinstance(each, (OSError, ValueError)) for each in seen), seen
