"""Targets that have no URL, as callables for `fscontract check`."""

from __future__ import annotations

import io
from pathlib import Path

from fsspec import AbstractFileSystem
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem

from fscontract.contract.binding import Binding
from fscontract.implementations.bindings.python_file import PythonFileBinding


def buffered(folder: str) -> Binding:
    """Files that open() buffers."""
    return PythonFileBinding(lambda path: open(path, "rb"), folder, "buffered")


def raw(folder: str) -> Binding:
    """Files of open() without a buffer."""
    return PythonFileBinding(lambda path: open(path, "rb", buffering=0), folder, "raw")


def random(folder: str) -> Binding:
    """Files that can be written as well."""
    return PythonFileBinding(lambda path: open(path, "r+b"), folder, "r+b")


def bytesio(folder: str) -> Binding:
    """Files in memory."""
    return PythonFileBinding(lambda path: io.BytesIO(Path(path).read_bytes()), folder, "BytesIO")


def below(folder: str) -> DirFileSystem:
    """fsspec's directory filesystem over its local one."""
    return DirFileSystem(folder, LocalFileSystem())


def sftp(port: int) -> AbstractFileSystem:
    """fsspec's files over SFTP."""
    from servers import file_server_clients as targets

    return targets.sftp(port)


def sshfs(port: int) -> AbstractFileSystem:
    """Files of sshfs."""
    from servers import file_server_clients as targets

    return targets.sshfs(port)


def smart(url: str, bucket: str) -> Binding:
    """Files of smart_open."""
    from servers.s3.client_targets import Place, smart

    return smart(Place(url, bucket))


def body(url: str, bucket: str) -> Binding:
    """Bodies of boto3."""
    from servers.s3.client_targets import Place, streaming_body

    return streaming_body(Place(url, bucket))
