"""Servers on loopback with the files of a directory, for fsspec clients."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

USER, PASSWORD = "someone", "hunter2-hunter2"


@contextmanager
def sftp_server(directory: Path) -> Iterator[int]:
    """Yield the port of an SFTP server for USER with PASSWORD."""
    import asyncssh

    connections: list[asyncssh.SSHServerConnection] = []

    class Server(asyncssh.SSHServer):  # type: ignore[misc]
        def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
            connections.append(conn)

        def password_auth_supported(self) -> bool:
            return True

        def validate_password(self, username: str, password: str) -> bool:
            return (username, password) == (USER, PASSWORD)

    class Files(asyncssh.SFTPServer):  # type: ignore[misc]
        def __init__(self, channel: asyncssh.SSHServerChannel[bytes]) -> None:
            super().__init__(channel, chroot=str(directory).encode())

    async def start() -> asyncssh.SSHAcceptor:
        key = asyncssh.generate_private_key("ssh-ed25519")
        return await asyncssh.listen(
            "127.0.0.1", 0, server_factory=Server, server_host_keys=[key], sftp_factory=Files
        )

    async def stop() -> None:
        acceptor.close()
        await acceptor.wait_closed()
        for connection in connections:
            connection.abort()
            await connection.wait_closed()

    with _loop() as loop:
        acceptor = asyncio.run_coroutine_threadsafe(start(), loop).result()
        try:
            yield acceptor.get_port()
        finally:
            asyncio.run_coroutine_threadsafe(stop(), loop).result()


@contextmanager
def _loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Yield an event loop that runs in a separate thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield loop
    finally:
        asyncio.run_coroutine_threadsafe(_end_tasks(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _end_tasks() -> None:
    """End tasks of connections that clients have left open."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def webdav_server(directory: Path) -> Iterator[str]:
    """Yield the URL of a WebDAV server without authentication."""
    from cheroot.wsgi import Server
    from wsgidav.wsgidav_app import WsgiDAVApp

    app = WsgiDAVApp(
        {
            "provider_mapping": {"/": str(directory)},
            "simple_dc": {"user_mapping": {"*": True}},
            "logging": {"enable": False},
            "verbose": 0,
        }
    )
    server = Server(("127.0.0.1", 0), app, numthreads=4, shutdown_timeout=1)
    server.prepare()
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.bind_addr[1]}/"
    finally:
        server.stop()
        thread.join()
