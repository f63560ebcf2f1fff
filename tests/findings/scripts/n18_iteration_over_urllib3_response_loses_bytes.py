"""N18: iteration over a response of urllib3 reads ahead, and a read after it lacks these bytes."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import urllib3


class Lines(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "14")
        self.end_headers()
        self.wfile.write(b"name\none\ntwo\n\n")


server = ThreadingHTTPServer(("127.0.0.1", 0), Lines)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/"

response = urllib3.request("GET", url, preload_content=False)
header = next(iter(response))
seen = header, response.tell(), response.read()

assert seen == (b"name\n", 5, b"one\ntwo\n\n"), seen
