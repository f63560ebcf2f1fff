"""H15: a closed file over FTP keeps a connection. Argument: URL of a server with the file `it`."""

import sys

from hadoop import IOException, JClass, Path, buffer, outcome
from hadoop_servers import filesystem, sockets

mode = "PASSIVE_LOCAL_DATA_CONNECTION_MODE"
ftp = filesystem(sys.argv[1], fs_ftp_data_connection_mode=mode)
before = sockets()
f = ftp.open(Path("/it"))
read = outcome(lambda: f.read(0, buffer(0), 0, 0))
f.close()
kept = sockets() - before
refused = IOException, JClass("java.lang.UnsupportedOperationException")
assert isinstance(read, refused) and kept == set(), (read, kept)
