"""H20: files over FTP with names beyond ASCII share one. Argument: URL of a server with `it`."""

import sys

from hadoop import Path, outcome
from hadoop_servers import filesystem

mode = "PASSIVE_LOCAL_DATA_CONNECTION_MODE"
ftp = filesystem(sys.argv[1], fs_ftp_data_connection_mode=mode)
contents = {"/文": 65, "/語": 66}
for name, byte in contents.items():
    out = ftp.create(Path(name), True)
    out.write(byte)
    out.close()
seen = {name: outcome(lambda name=name: ftp.open(Path(name)).read()) for name in contents}
assert seen == contents, seen
