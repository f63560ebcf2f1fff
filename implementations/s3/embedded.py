"""An S3 server for checks without an account: moto, in a process of its own, on this machine only.

In a process of its own, so that its threads and connections are not taken for those of the stream
that is checked. It ends with the process that started it, however that ends.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

#: What its clients have to say; it accepts anything.
ACCESS_KEY = SECRET_KEY = "fscontract"
REGION = "us-east-1"
_PATIENCE = 10
#: Without the directory of the user on the path, where another `moto.py` may lie.
_START = f"""
import sys
sys.path = [place for place in sys.path if place]
from {__name__} import serve
serve()
"""


class EmbeddedServer:
    """A running server; `url` is where it listens."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - this module, run by this very interpreter
            [sys.executable, "-c", _START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().decode().strip()
        if not self.url:
            self.close()
            raise OSError("the embedded S3 server (moto) does not start")

    def close(self) -> None:
        """End the server, and all that it holds; may be called again."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> EmbeddedServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def available() -> bool:
    """Whether the server is installed."""
    return find_spec("moto") is not None and find_spec("flask") is not None


def serve() -> None:
    """Run the server in this process, until standard input ends."""
    import logging

    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    print(f"http://{host}:{port}", flush=True)
    sys.stdin.buffer.read()  # until the process that started this one lets go
    server.stop()
