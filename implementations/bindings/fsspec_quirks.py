"""Properties of fsspec filesystems: remote, flat, read-only, and resources to close."""

from __future__ import annotations

import asyncio
import platform
import shutil
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

#: Protocols that are read-only through fsspec.
READ_ONLY = frozenset({"http", "https", "zip", "tar", "libarchive", "git", "data", "reference"})
#: Protocols without real directories: prefixes are not created, and parents need not exist.
FLAT = frozenset(
    {"memory", "s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oci", "oss", "r2"}
)
_LOCAL = frozenset(
    {"file", "local", "memory", "zip", "tar", "libarchive", "dir", "git", "data"}
    | {"cached", "blockcache", "filecache", "simplecache", "reference"}
    | {"fscontract-memory", "fscontract-local"}
)
#: The protocol of classes that do not state theirs.
_NAMELESS = frozenset({"abstract"})
#: A remote protocol that is not registered with fsspec.
_REMOTE = frozenset({"fscontract-spark"})
#: Client exceptions for unreachable servers, by package and name.
_UNREACHABLE = frozenset(
    {
        ("aiohttp", "ClientConnectionError"),
        ("botocore", "HTTPClientError"),
        ("requests", "ConnectionError"),
        ("paramiko", "SSHException"),
    }
)


def is_flat(fs: Any) -> bool:
    """Return True if the filesystem has no real directories."""
    return any(protocols(layer) & FLAT for layer in layers_of(fs))


def is_remote(fs: Any, url: str = "") -> bool:
    """Return True if a call may need a round trip: any filesystem of the URL's chain is remote.

    A class with a protocol that fsspec does not list is as remote as its base classes. If those
    have no other protocol, it is local: the time of a run is bounded. A class without any protocol,
    such as that of sshfs, is remote if it is asynchronous.
    """
    schemes = {part.partition("://")[0] for part in url.split("::") if "://" in part}
    innermost = layers_of(fs)[-1]  # a wrapper is as remote as the filesystem it wraps
    names = schemes.union(protocols(innermost), *map(protocols, type(innermost).__mro__))
    if names <= _NAMELESS:
        return getattr(innermost, "async_impl", False) is True
    return any(map(is_remote_protocol, names))


def is_remote_protocol(name: str) -> bool:
    """Return True for a protocol of a store behind a network that fsspec lists."""
    from fsspec.registry import known_implementations

    return name in _REMOTE or (name in known_implementations and name not in _LOCAL)


def is_local(fs: Any) -> bool:
    """Return True if paths of the filesystem are local paths."""
    return not protocols(fs).isdisjoint({"file", "local"})


def protocols(fs: Any) -> frozenset[str]:
    """Return the names in `fs.protocol`, a string or a sequence."""
    names = getattr(fs, "protocol", ())
    several = names if isinstance(names, list | tuple | set | frozenset) else (names,)
    return frozenset(name for name in several if isinstance(name, str))


def layers_of(fs: Any) -> list[Any]:
    """Return `fs` and the fsspec filesystems that it wraps, innermost last.

    Their attribute `fs` may also be another object, such as a PyArrow filesystem.
    """
    from fsspec import AbstractFileSystem

    layers = [fs]
    while isinstance(fs := getattr(fs, "fs", None), AbstractFileSystem):
        if any(fs is one for one in layers):
            break
        layers.append(fs)
    return layers


def below_directories(fs: Any) -> Any:
    """Return the filesystem under test: one below the directory of a DirFileSystem is that one."""
    from fsspec.implementations.dirfs import DirFileSystem

    while isinstance(fs, DirFileSystem):
        fs = fs.fs
    return fs


def is_unreachable(error: BaseException) -> bool:
    """Return True if an exception means an unreachable server, which gives no verdict."""
    if isinstance(error, asyncio.TimeoutError):  # not a TimeoutError before Python 3.11
        return True
    names = {(c.__module__.partition(".")[0], c.__name__) for c in type(error).__mro__}
    return not _UNREACHABLE.isdisjoint(names)


def versions_of(fs: Any) -> dict[str, str]:
    """Return versions of Python, fsspec, the packages that it uses, and its HTTP client."""
    layers = layers_of(fs)
    below = (*layers, getattr(layers[-1], "fs", None))
    packages = {"fsspec", *(type(one).__module__.partition(".")[0] for one in below)}
    if hasattr(layers[-1], "set_session"):
        packages.add("aiohttp")
    packages_found = {"python": platform.python_version()}
    for package in sorted(packages):
        with suppress(PackageNotFoundError):
            packages_found[package] = version(package)
    return packages_found


def close_sessions(fs: Any) -> None:
    """Close the connections and archives of a filesystem that this process opened."""
    for layer in layers_of(fs):
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
    """Remove the directory that a caching filesystem created; old versions leave it behind."""
    storage = getattr(layer, "storage", None)
    if isinstance(storage, list) and "cache_storage" not in layer.storage_options:
        for directory in storage:
            shutil.rmtree(directory, ignore_errors=True)
