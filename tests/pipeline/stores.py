"""Stores with the files of a directory, as a user of fsspec names them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import fsspec
import pytest

from fscontract.fakes.servers import HttpServer, S3Server
from servers.file_servers import sftp_server
from servers.ftp import PASSWORD, USER, ftp_server

#: Names of stores whose files can be written, and of those whose files can't.
WRITABLE = ("memory", "gs")
READ_ONLY = ("ftp", "sftp", "http", "cached-file", "cached-s3", "hadoop")


@contextmanager
def store(name: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the URL of a store with the files; libraries find its credentials in their own ways."""
    if name == "ftp":
        pytest.importorskip("pyftpdlib")
        with ftp_server(directory) as url:
            known = {"username": USER, "password": PASSWORD}
            monkeypatch.setitem(fsspec.config.conf, "ftp", known)
            yield f"ftp://{url.rpartition('@')[2].rstrip('/')}"
    elif name == "sftp":
        pytest.importorskip("asyncssh")
        with sftp_server(directory) as port:
            monkeypatch.setitem(
                fsspec.config.conf, "sftp", {"username": USER, "password": PASSWORD}
            )
            yield f"sftp://127.0.0.1:{port}"
    elif name == "http":
        with HttpServer(directory) as server:
            yield server.url.rstrip("/")
    elif name == "hadoop":
        pytest.importorskip("jpype")
        pytest.importorskip("pyspark")
        yield f"hadoop+{directory.as_uri()}"
    elif name == "gs":
        with google_storage(directory, monkeypatch) as bucket:
            yield f"gs://{bucket}"
    elif name == "cached-file":
        yield f"simplecache::{directory.as_uri()}"
    elif name == "cached-s3":
        with S3Server(directory) as server:
            for variable, value in server.environment.items():
                monkeypatch.setenv(variable, value)
            yield f"simplecache::s3://{server.bucket}"
    else:
        fs = fsspec.filesystem("memory")
        fs.put(f"{directory}/", f"/{directory.name}", recursive=True)
        try:
            yield f"memory://{directory.name}"
        finally:
            fs.rm(f"/{directory.name}", recursive=True)


@contextmanager
def google_storage(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield a bucket of an emulator of Google Cloud Storage with the files."""
    emulator = pytest.importorskip("gcp_storage_emulator.server")
    # Without this gcsfs asks for the kind of the bucket by TLS, which no emulator has.
    monkeypatch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    made = emulator.create_server("127.0.0.1", 0, in_memory=True, default_bucket="bucket")
    with made as server:
        port = server._api._httpd.server_address[1]
        known = {"endpoint_url": f"http://127.0.0.1:{port}", "token": "anon", "project": "test"}
        monkeypatch.setitem(fsspec.config.conf, "gs", known)
        fs = fsspec.filesystem("gs")
        fs.put(f"{directory}/", "bucket/", recursive=True)
        yield "bucket"
