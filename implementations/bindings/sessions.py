"""What is known of other people's filesystems: which are remote, flat, read-only; what to close."""

from __future__ import annotations

import asyncio
import platform
import shutil
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

#: Protocols that can't be written through fsspec.
READ_ONLY = frozenset({"http", "https", "zip", "tar", "libarchive", "git", "data", "reference"})
#: Protocols without real directories: a prefix needs no making, and its parent need not exist.
FLAT = frozenset(
    {"memory", "s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oci", "oss", "r2"}
)
_LOCAL = frozenset(
    {"file", "local", "memory", "zip", "tar", "libarchive", "dir", "git", "data"}
    | {"cached", "blockcache", "filecache", "simplecache", "reference"}
    | {"fscontract-memory", "fscontract-local"}
)
#: Exceptions of clients that say the server can't be reached, by package and name.
_UNREACHABLE = frozenset(
    {
        ("aiohttp", "ClientConnectionError"),
        ("botocore", "HTTPClientError"),
        ("requests", "ConnectionError"),
        ("paramiko", "SSHException"),
    }
)


def is_flat(fs: Any) -> bool:
    """Whether the filesystem has no real directories."""
    return any(names & FLAT for names in _protocols(fs))


def is_remote(fs: Any, url: str = "") -> bool:
    """Whether a call may cost a round trip: the filesystem, or one in the URL's chain, is far."""
    schemes = {part.partition("://")[0] for part in url.split("::") if "://" in part}
    *_, innermost = _protocols(fs)  # a wrapper is as far away as what it wraps
    return not schemes <= _LOCAL or not innermost & _LOCAL


def _protocols(fs: Any) -> Iterator[set[str]]:
    for layer in _layers(fs):
        names = layer.protocol
        yield {names} if isinstance(names, str) else set(names)


def _layers(fs: Any) -> Iterator[Any]:
    while fs is not None:
        yield fs
        fs = getattr(fs, "fs", None)


def is_unreachable(error: BaseException) -> bool:
    """Whether an exception says that the server can't be reached: no verdict on a stream."""
    if isinstance(error, asyncio.TimeoutError):  # not a TimeoutError before Python 3.11
        return True
    names = {(c.__module__.partition(".")[0], c.__name__) for c in type(error).__mro__}
    return not _UNREACHABLE.isdisjoint(names)


def versions_of(fs: Any) -> dict[str, str]:
    """Versions of Python, fsspec, the package that implements `fs`, and its HTTP client."""
    packages = {"fsspec", type(fs).__module__.partition(".")[0]}
    if hasattr(fs, "set_session"):
        packages.add("aiohttp")
    found = {"python": platform.python_version()}
    for package in sorted(packages):
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def close_sessions(fs: Any) -> None:
    """Close the connections and archives that a filesystem of ours holds open."""
    for layer in _layers(fs):
        for attribute in ("_s3creator", "_session"):
            session = getattr(layer, attribute, None)
            if session is not None:
                with suppress(Exception):  # the filesystem's finalizer tries again
                    layer.close_session(layer.loop, session)
                break
        _remove_cache(layer)
        for attribute in ("zip", "tar", "fo"):
            archive: Any = getattr(layer, attribute, None)
            if hasattr(archive, "close"):
                with suppress(Exception):
                    archive.close()


def _remove_cache(layer: Any) -> None:
    """Remove the directory that a caching filesystem made for itself; older ones leave it."""
    storage = getattr(layer, "storage", None)
    if isinstance(storage, list) and "cache_storage" not in layer.storage_options:
        for directory in storage:
            shutil.rmtree(directory, ignore_errors=True)
