"""Servers with an empty directory, and clients of them."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from fsspec import AbstractFileSystem
from fsspec.asyn import sync

from servers import file_server_clients as targets
from servers.file_servers import sftp_server, webdav_server
from servers.ftp import ftp_server
from tests.findings.servers.azure import blob_server


@pytest.fixture
def sshfs(tmp_path: Path) -> Iterator[AbstractFileSystem]:
    """SFTP through asyncssh."""
    with sftp_server(tmp_path) as port:
        yield targets.sshfs(port)


@pytest.fixture
def sftp(tmp_path: Path) -> Iterator[AbstractFileSystem]:
    """SFTP through paramiko."""
    with sftp_server(tmp_path) as port:
        made = targets.sftp(port)
        with closing(made.client):
            yield made


@pytest.fixture
def ftp(tmp_path: Path) -> Iterator[AbstractFileSystem]:
    """FTP."""
    with ftp_server(tmp_path) as url:
        made = targets.ftp(urlsplit(url).port or 0, timeout=30)
        yield made
        made.ftp.close()  # another one than at first, after an error


@pytest.fixture
def webdav(tmp_path: Path) -> Iterator[AbstractFileSystem]:
    """WebDAV."""
    with webdav_server(tmp_path) as url:
        made = targets.webdav(url)
        with closing(made.client.http):
            yield made


@pytest.fixture
def azure() -> Iterator[AbstractFileSystem]:
    """Blobs of Azure's, all of them DATA."""
    with blob_server() as endpoint:
        made = targets.azure(endpoint)
        yield made
        sync(made.loop, made.service_client.close)
        with warnings.catch_warnings():  # a call that fails leaves its connection to the collector
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()
