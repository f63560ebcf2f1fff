"""L7: readinto() of a file of httpio leaves its position, and read(0) reads the whole file."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpio

DATA = bytes(range(100))


class Ranges(BaseHTTPRequestHandler):
    def do_HEAD(self):
        wanted = self.headers.get("Range", "bytes=0-99")
        first, last = map(int, wanted.removeprefix("bytes=").split("-"))
        part = DATA[first : last + 1]
        self.send_response(206 if "Range" in self.headers else 200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part if self.command == "GET" else b"")

    def do_GET(self):
        self.do_HEAD()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Ranges)
threading.Thread(target=server.serve_forever, daemon=True).start()
with httpio.open(f"http://127.0.0.1:{server.server_port}/x", block_size=16) as f:
    count = f.readinto(bytearray(4))
    position = f.tell()
    f.seek(0)
    nothing = f.read(0)
server.shutdown()
assert (count, position, nothing) == (4, 4, b""), (count, position, nothing)
