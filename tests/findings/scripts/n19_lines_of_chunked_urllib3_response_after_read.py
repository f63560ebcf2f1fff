"""N19: after a read, iteration over a chunked response of urllib3 raises ProtocolError."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import urllib3


class Chunked(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"9\r\nname\none\n\r\n4\r\ntwo\n\r\n0\r\n\r\n")


server = ThreadingHTTPServer(("127.0.0.1", 0), Chunked)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/"

response = urllib3.request("GET", url, preload_content=False)
try:
    seen = [response.readline(), *response]
except Exception as error:
    seen = error

assert seen == [b"name\n", b"one\n", b"two\n"], seen
