"""L22: the first member of a remotezip archive is seekable, but refuses a seek backwards."""

import io
import threading
import zipfile
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from remotezip import OutOfBound, RemoteZip

archive = io.BytesIO()
with zipfile.ZipFile(archive, "w") as file:
    file.writestr("member", bytes(range(250)) * 300)
data = archive.getvalue()


class Ranges(BaseHTTPRequestHandler):
    """Serves byte ranges of the archive."""

    def do_GET(self) -> None:
        """Send the requested range."""
        first, last = self.headers["Range"].removeprefix("bytes=").split("-")
        start = int(first or max(0, len(data) - int(last)))
        part = data[start : int(last) + 1 if first and last else len(data)]
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {start}-{start + len(part) - 1}/{len(data)}")
        self.end_headers()
        self.wfile.write(part)


server = ThreadingHTTPServer(("127.0.0.1", 0), Ranges)
threading.Thread(target=server.serve_forever, daemon=True).start()
member = RemoteZip(f"http://127.0.0.1:{server.server_port}/archive.zip").open("member")
assert member.seekable()
member.seek(5000)
seen = b""
with suppress(OutOfBound):
    member.seek(1)
    seen = member.read(2)
assert seen == b"\1\2", seen
