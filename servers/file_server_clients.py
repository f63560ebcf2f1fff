"""Clients of servers as fsspec filesystems, without shared connections."""

from __future__ import annotations

import base64

from fsspec import AbstractFileSystem

from servers.file_servers import PASSWORD, USER


def sshfs(port: int) -> AbstractFileSystem:
    """Return an SFTP filesystem of the package sshfs, which uses asyncssh."""
    from sshfs import SSHFileSystem

    return SSHFileSystem(
        "127.0.0.1", port=port, username=USER, password=PASSWORD, skip_instance_cache=True
    )


def sftp(port: int) -> AbstractFileSystem:
    """Return fsspec's SFTP filesystem, which uses paramiko."""
    from fsspec.implementations.sftp import SFTPFileSystem

    return SFTPFileSystem(
        "127.0.0.1",
        port=port,
        username=USER,
        password=PASSWORD,
        look_for_keys=False,
        allow_agent=False,
        skip_instance_cache=True,
    )


def ftp(port: int, timeout: float = 30) -> AbstractFileSystem:
    """Return fsspec's FTP filesystem; `timeout` is that of its connection in seconds."""
    from fsspec.implementations.ftp import FTPFileSystem

    return FTPFileSystem(
        "127.0.0.1",
        port=port,
        username=USER,
        password=PASSWORD,
        timeout=timeout,
        skip_instance_cache=True,
    )


def webdav(url: str) -> AbstractFileSystem:
    """Return a WebDAV filesystem of the package webdav4."""
    from webdav4.fsspec import WebdavFileSystem

    return WebdavFileSystem(url, skip_instance_cache=True)


def azure(endpoint: str) -> AbstractFileSystem:
    """Return an Azure Blob filesystem of the package adlfs."""
    from adlfs import AzureBlobFileSystem

    key = base64.b64encode(PASSWORD.encode()).decode()
    parts = {"DefaultEndpointsProtocol": "http", "AccountName": "account", "AccountKey": key}
    parts["BlobEndpoint"] = endpoint
    connection = ";".join(f"{name}={value}" for name, value in parts.items())
    return AzureBlobFileSystem(connection_string=connection, skip_instance_cache=True)
