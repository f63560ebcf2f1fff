"""H16: available() is 0 at the start of a file over FTP. Argument: URL of a server with `it`."""

import sys

from hadoop import Path
from hadoop_servers import filesystem

mode = "PASSIVE_LOCAL_DATA_CONNECTION_MODE"
f = filesystem(sys.argv[1], fs_ftp_data_connection_mode=mode).open(Path("/it"))
available = f.available()
assert available > 0, available
