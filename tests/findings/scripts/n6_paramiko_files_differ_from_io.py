"""N6: files of fsspec's SFTP client differ from files of io. Argument: server URL."""

import array

from sftp import paramiko_client

fs = paramiko_client()
fs.pipe_file("/it", b"0123456789")
f = fs.open("/it")
assert f.seek(0, 2) is None  # expected 10
f.seek(0)
try:
    f.readinto(array.array("I", [0]))  # expected 4
except TypeError:
    pass
else:
    raise SystemExit("fixed")
f.close()
try:
    f.read(0)  # expected ValueError
except OSError as error:
    assert "File is closed" in str(error)
else:
    raise SystemExit("fixed")
