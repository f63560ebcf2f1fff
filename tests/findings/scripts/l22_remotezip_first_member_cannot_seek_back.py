"""L22: the first member of a remotezip archive is seekable, but refuses a seek backwards."""

import io
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from remotezip import RemoteZip

archive = io.BytesIO()
with zipfile.ZipFile(archive, "w") as file:
    file.writestr("member", bytes(range(250)) * 300)
data = archive.getvalue()


class Ranges(BaseHTTPRequestHandler):
    """Serves byte ranges of the archive."""

    def do_GET(self) -> None:
        """Send the requested range."""
        first, last = self.headers["Range"].removeprefix("bytes=").split("-")
        start = int(first) if first else max(0, len(data) - int(last))
        end = int(last) + 1 if first and last else len(data)
        part = data[start:end]
        self.send_response(206)
        self.send_header("Content-Length", str(len(part)))
        self.send_header("Content-Range", f"bytes {start}-{start + len(part) - 1}/{len(data)}")
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *values: object) -> None:
        """Log nothing."""


server = ThreadingHTTPServer(("127.0.0.1", 0), Ranges)
threading.Thread(target=server.serve_forever, daemon=True).start()
member = RemoteZip(f"http://127.0.0.1:{server.server_port}/archive.zip").open("member")
assert member.seekable()
member.seek(5000)
try:
    member.seek(1)
    seen: object = member.read(2)
except Exception as error:
    seen = error
assert seen == b"\1\2", repr(seen)
