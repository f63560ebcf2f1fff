"""N17: fsspec's WebHDFS returns the error of a data node as bytes of the file."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from fsspec.implementations.webhdfs import WebHDFS


class Cluster(BaseHTTPRequestHandler):
    """A name node with a file of 9 bytes, and the data node of its block, which is restarting."""

    def do_GET(self):
        if "GETFILESTATUS" in self.path:
            self.answer(200, {"FileStatus": {"length": 9, "type": "FILE", "pathSuffix": ""}})
        elif self.path.startswith("/webhdfs"):
            self.answer(307, {}, Location=f"http://{self.headers['Host']}/data{self.path}")
        else:
            self.answer(503, {"RemoteException": {"exception": "RetriableException"}})

    def answer(self, status, content, **headers):
        body = json.dumps(content).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


server = HTTPServer(("127.0.0.1", 0), Cluster)
threading.Thread(target=server.serve_forever, daemon=True).start()
fs = WebHDFS("127.0.0.1", port=server.server_port)
try:
    seen = fs.open("/it", "rb").read()
except Exception as error:
    seen = error

assert isinstance(seen, Exception), seen
