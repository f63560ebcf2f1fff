"""F10: threads that read one tar archive get bytes of other places."""

import io
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor

import fsspec

sys.setswitchinterval(1e-5)  # seconds: let threads alternate often


def is_wrong(number):
    name = "ab"[number % 2]
    try:
        return fs.cat_file(name, number, number + 90_000) != name.encode() * 90_000
    except Exception:
        return True


with tempfile.NamedTemporaryFile(suffix=".tar") as made:
    with tarfile.open(made.name, "w") as tar:
        for name in "ab":
            info = tarfile.TarInfo(name)
            info.size = 100_000
            tar.addfile(info, io.BytesIO(name.encode() * info.size))
    fs = fsspec.filesystem("tar", fo=made.name)
    with ThreadPoolExecutor(8) as pool:
        wrong = sum(pool.map(is_wrong, range(5000)))

assert wrong == 0, f"{wrong} of 5000 reads are wrong"
