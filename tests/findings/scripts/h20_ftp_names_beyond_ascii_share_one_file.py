"""H20: files over FTP with names beyond ASCII share one. Argument: URL of a server with `it`."""

import sys

from hadoop import Path, raises
from hadoop_servers import filesystem

mode = "PASSIVE_LOCAL_DATA_CONNECTION_MODE"
ftp = filesystem(sys.argv[1], fs_ftp_data_connection_mode=mode)
for path in (Path("/文"), Path("/語")):
    out = ftp.create(path, True)
    out.write(65)
    out.close()
    # expected to open
    assert raises("java.io.FileNotFoundException", lambda path=path: ftp.open(path))
assert len(ftp.listStatus(Path("/"))) == 2  # expected 3: these files, and `it`
