"""H15: a closed file over FTP keeps a connection. Argument: URL of a server with the file `it`."""

import sys

from hadoop import Path, buffer
from hadoop_servers import filesystem, sockets

mode = "PASSIVE_LOCAL_DATA_CONNECTION_MODE"
ftp = filesystem(sys.argv[1], fs_ftp_data_connection_mode=mode)
before = sockets()
f = ftp.open(Path("/it"))
assert f.read(0, buffer(0), 0, 0) == 0  # expected an exception: no positioned reads
f.close()
assert sockets() - before  # expected none
