"""Check a client while its server misbehaves: the bindings of `check --server-faults`."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeAlias

from fscontract.contract.binding import Action, Binding, Opened
from fscontract.contract.program.program import Program, Step
from fscontract.contract.script.calls import ScriptApi, Source
from fscontract.fakes.servers.http_server import HttpServer
from fscontract.fakes.servers.s3_server import S3Server
from fscontract.fakes.servers.server import MisbehavingServer
from fscontract.implementations.bindings.python_file import PythonFileBinding

#: Makes the binding of the client from the values of placeholders, and for a read-only client the
#: URL and a copy of a file.
Client: TypeAlias = Callable[[Mapping[str, str], str | None, Path | None], Binding]
_PROBE = "probe"
#: The path of the file in a script.
_PATH = 'path = url + "/bucket/file"'
#: Values of placeholders that the server of a script accepts.
_FIXED = {"bucket": "bucket", "key": "key", "secret": "secret", "region": "us-east-1"}
_TEXT = re.compile(r'"[^"]*\{(?:url|host)\}[^"]*"')


class ServedBinding(Binding):
    """The binding to a client of a server that faults make misbehave.

    Opens with options are left out: the binding of the client makes their scenes.
    """

    def __init__(self, client: Binding, server: MisbehavingServer, name: str) -> None:
        self.api = client.api  # type: ignore[misc] # that of the client
        self.default_profile = client.default_profile  # type: ignore[misc]
        self.name = f"{name} as a client"
        self.operations = client.operations
        self.buffer = client.buffer
        self.remote = True
        self.pread_on_stream = client.pread_on_stream
        self.injector = server.injector
        self.versions = getattr(client, "versions", {})
        self._client = client
        self._server = server

    def prepare(self) -> None:
        """Implement `Binding.prepare`."""
        self._client.prepare()
        self.block = self._client.block

    def create(self, content: bytes) -> str:
        """Implement `Binding.create`, through the client."""
        return self._client.create(content)

    def open(self, path: str) -> Opened:
        """Implement `Binding.open`."""
        return self._client.open(path)

    def bind(self, step: Step) -> Action:
        """Implement `Binding.bind`."""
        return self._client.bind(step)

    def spell(self, program: Program) -> str:
        """Implement `Binding.spell`."""
        return self._client.spell(program)

    def script_api(self, source: Source) -> ScriptApi | None:
        """Implement `Binding.script_api`: the script has a separate server."""
        api = self._client.script_api(source)
        if api is None:
            return None
        own = ("import pathlib", "directory = ", "path = directory.", "path = path", 'path = "http')
        lines = [line for line in api.setup if not line.startswith(own)]
        setup = (*(_of_server(line, source) for line in lines), *self._path_in_script(lines))
        return replace(api, setup=setup, write="", cleanup=(), is_served=True)

    def _path_in_script(self, lines: list[str]) -> tuple[str, ...]:
        """Return the statement that sets `path`, unless the client does."""
        return () if any(line.startswith("path = ") for line in lines) else (_PATH,)

    def dispose(self) -> None:
        """Implement `Binding.dispose`; end the server."""
        try:
            self._client.dispose()
        finally:
            self._server.close()

    @property
    def prefix(self) -> str | None:
        """The path of the prefix while it exists."""
        return self._client.prefix

    def sources(self, path: str) -> Mapping[str, frozenset[str]]:
        """Implement `Binding.sources`."""
        return self._client.sources(path)

    def status_length(self, path: str) -> int | None:
        """Implement `Binding.status_length`."""
        return self._client.status_length(path)


def _of_server(line: str, source: Source) -> str:
    """Return a statement with the values of placeholders."""
    for name, value in source.options.items():
        for placeholder, fixed in _FIXED.items():
            if value == f"{{{placeholder}}}":  # not a secret
                line = line.replace(f'os.environ["{name.upper()}"]', f'"{fixed}"')
    for placeholder, fixed in _FIXED.items():
        line = line.replace(f"{{{placeholder}}}", fixed)
    return _TEXT.sub(lambda text: "url" if text[0] == '"{url}"' else f"f{text[0]}", line)


class HttpBinding(ServedBinding):
    """A client that reads; the files are written to the directory of the server."""

    def __init__(self, client: Binding, server: HttpServer, name: str) -> None:
        super().__init__(client, server, name)
        self._directory = server.directory
        self._url = server.url
        self._files = 0
        self._by_name: bool | None = None

    def prepare(self) -> None:
        """Implement `Binding.prepare`; a client without a fixed file can't write one."""
        if self._client.fixed_content is not None:
            super().prepare()

    def create(self, content: bytes) -> str:
        """Write a new file, and return its path for the client."""
        name = f"{self._files:06d}"
        self._files += 1
        (self._directory / name).write_bytes(content)
        probe = getattr(self._client, "_file", None)
        if isinstance(probe, str):
            return f"{probe.removesuffix(_PROBE)}{name}"
        fs: Any = getattr(self._client, "fs", None)
        url = f"{self._url}/{name}"
        return url if fs is None else self._path_in(fs, url, name)

    def _path_in(self, fs: Any, url: str, name: str) -> str:
        """Return the path of a new file: its URL, or its name if paths begin at the server's."""
        path = str(fs._strip_protocol(url))
        if self._by_name is None:
            self._by_name = not _exists(fs, path) and _exists(fs, name)
        return name if self._by_name else path

    def dispose(self) -> None:
        """Implement `Binding.dispose`; remove the directory."""
        try:
            super().dispose()
        finally:
            shutil.rmtree(self._directory, ignore_errors=True)


def _exists(fs: Any, path: str) -> bool:
    with suppress(Exception):  # a filesystem under test may raise anything
        return bool(fs.exists(path))
    return False


def http(client: Client, name: str) -> Binding:
    """Return the binding to a client of an HTTP server. Raise TargetError, UsageError."""
    directory = Path(tempfile.mkdtemp(prefix="fscontract-"))
    server = HttpServer(directory)
    try:
        probe = directory / _PROBE
        probe.write_bytes(b"x")
        values = {"url": server.url, "host": server.address}
        bound = client(values, f"{server.url}/{_PROBE}", probe)
        return HttpBinding(bound, server.start(), name)
    except BaseException:
        server.close()
        shutil.rmtree(directory, ignore_errors=True)
        raise


class _WrittenBinding(ServedBinding):
    """A client that opens URLs of objects, which the server writes itself."""

    def __init__(self, client: Binding, server: S3Server, name: str) -> None:
        super().__init__(client, server, name)
        self._objects = server

    def prepare(self) -> None:
        """Do nothing: the server has the bucket."""

    def create(self, content: bytes) -> str:
        """Write a new object, and return its URL."""
        key = token_hex(8)
        self._objects.write(key, content)
        return f"{self._objects.url}/{self._objects.bucket}/{key}"


def served(opener: Callable[[str], Any], name: str, on_s3: bool = False) -> Binding:
    """Return the binding to a callable that opens the URL of a file on a server."""
    client = PythonFileBinding(opener, name=name)
    if on_s3:
        return _WrittenBinding(client, S3Server().start(), name)
    server = HttpServer(tempfile.mkdtemp(prefix="fscontract-")).start()
    return HttpBinding(client, server, name)


def s3(client: Client, name: str) -> Binding:
    """Return the binding to a client of an S3 server. Raise TargetError, UsageError."""
    server = S3Server().start()
    try:
        values = {
            "url": server.url,
            "host": server.address,
            "bucket": server.bucket,
            "key": server.access_key,
            "secret": server.secret_key,
            "region": server.region,
        }
        return ServedBinding(client(values, None, None), server, name)
    except BaseException:
        server.close()
        raise
