"""N7: threads that share a connection over FTP or SFTP hang or get errors. Argument: server URL."""

import sys
from threading import Thread

import fsspec

if sys.argv[1].startswith("ftp:"):
    fs, _ = fsspec.url_to_fs(sys.argv[1])
else:
    from sftp import paramiko_client

    fs = paramiko_client()
outcomes = []


def read(path):
    try:
        for _ in range(200):
            assert fs.cat_file(path, 100, 600) == path[-1:].encode() * 500
        outcomes.append("read")
    except BaseException as error:
        outcomes.append(repr(error))


for path in ("/a", "/b"):
    with fs.open(path, "wb") as file:
        file.write(path[-1:].encode() * 200_000)
threads = [Thread(target=read, args=(path,), daemon=True) for path in ("/a", "/b")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(10)
outcomes += ["hangs" for thread in threads if thread.is_alive()]

assert outcomes == ["read", "read"], outcomes
