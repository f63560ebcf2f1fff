"""L19: a BlobReader of Google Cloud Storage accepts a seek before the start, and reads the end."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from google.auth.credentials import AnonymousCredentials
from google.cloud import storage

CONTENT = b"0123456789"


class Server(BaseHTTPRequestHandler):
    def do_GET(self):
        asked = self.headers.get("range", "")
        is_suffix = asked.startswith("bytes=-")
        body = CONTENT[-int(asked.removeprefix("bytes=-")) :] if is_suffix else b'{"size": "10"}'
        self.send_response(206 if is_suffix else 200)
        self.send_header("Content-Type", "text/plain" if is_suffix else "application/json")
        self.send_header("Content-Range", f"bytes {10 - len(body)}-9/10")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = storage.Client(
    project="project",
    credentials=AnonymousCredentials(),
    client_options={"api_endpoint": f"http://127.0.0.1:{server.server_port}"},
)
file = client.bucket("bucket").blob("key").open("rb")
try:
    seen = file.seek(-3), file.tell(), file.read()
except (ValueError, OSError):
    seen = "refused"
assert seen == "refused", seen
