"""Hadoop filesystems by URL, and the stores for their files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import SplitResult, quote, unquote, urlsplit

from fscontract.contract.binding import TargetError
from fscontract.contract.targets import UsageError
from fscontract.contract.text import mask_url
from fscontract.implementations.bindings.hadoop.base_classes import FILESYSTEM, wrapped
from fscontract.implementations.bindings.hadoop.conversions import java
from fscontract.implementations.bindings.hadoop.local_files import (
    ArchiveLocation,
    ArchiveStore,
    ChecksumStore,
    DiskStore,
    HadoopLocation,
    HadoopStore,
    LocalHadoopLocation,
    LocalHadoopStore,
)
from fscontract.implementations.bindings.object_stores import Store
from fscontract.implementations.jvm.jvm import java_class

#: Mount point of the directory in viewfs.
_MOUNT = "/mounted"
_LINK = f"fs.viewfs.mounttable.default.link.{_MOUNT}"
_RAW = "org.apache.hadoop.fs.RawLocalFileSystem"
_RAW_CONTEXT = "org.apache.hadoop.fs.local.RawLocalFs"
APIS = ("filesystem", "filecontext")
_Maker: TypeAlias = "Callable[[Path, Mapping[str, str], str], HadoopLocation]"


def location_of(url: str, options: Mapping[str, str], fixed: bool = False) -> HadoopLocation:
    """Return the location of a URL with options of Hadoop's Configuration; raise UsageError.

    `fixed` means read-only. Java exceptions are not converted.
    """
    given = dict(options)
    api = given.pop("api", APIS[0])
    if api not in APIS:
        raise UsageError(f"hadoop: invalid value for api: {api!r}; expected {' or '.join(APIS)}")
    parts = urlsplit(url)
    make = _maker(parts, fixed)
    if make is None:
        return _anywhere(parts, url, given, api, fixed)
    if parts.netloc:
        example = f"hadoop+{parts.scheme}:///directory"
        raise UsageError(
            f"hadoop+{mask_url(url)}: invalid URL of a local directory; expected {example}"
        )
    directory = Path(unquote(parts.path) or "/")
    if not directory.is_dir():
        raise TargetError(f"hadoop+{mask_url(url)}: directory not found")
    location = make(directory, given, api)
    if fixed:
        location.store = None
    return location


def _maker(parts: SplitResult, fixed: bool) -> _Maker | None:
    """Return the function that sets up a local directory; None if Hadoop finds the filesystem."""
    if parts.scheme == "viewfs" and parts.netloc:  # the user's mount table
        return None
    if parts.scheme == "har" and fixed:  # an existing archive
        return None
    return _LOCAL.get(parts.scheme)


def _anywhere(
    parts: SplitResult, url: str, options: Mapping[str, str], api: str, fixed: bool
) -> HadoopLocation:
    """Return the location that FileSystem.get finds by scheme."""
    config = configuration(options)
    filesystem = _new(url, config)
    root = unquote(parts.path).rstrip("/")
    store = None if fixed else store_of(filesystem, root)
    reader = filesystem if api == APIS[0] else _context(url, config)
    location = HadoopLocation(reader, store, (filesystem,), root)
    location.profile = _PROFILES.get(parts.scheme, location.profile)
    return location


def store_of(filesystem: Any, root: str) -> HadoopStore:
    """Return a store that writes below `root` through a Java FileSystem."""
    local = java_class("org.apache.hadoop.fs.LocalFileSystem")
    for one in wrapped(filesystem, java_class(FILESYSTEM)):
        if isinstance(one, local):
            directory = Path(str(one.pathToFile(java().path(root or "/"))))
            return LocalHadoopStore(filesystem, java(), root, directory)
    return HadoopStore(filesystem, java(), root)


def _raw(directory: Path, options: Mapping[str, str], api: str) -> HadoopLocation:
    config = configuration(
        {"fs.file.impl": _RAW, "fs.AbstractFileSystem.file.impl": _RAW_CONTEXT, **options}
    )
    store = DiskStore(directory, _root(directory))
    return _local("file:///", config, api, store, "hadoop-raw")


def _checksummed(directory: Path, options: Mapping[str, str], api: str) -> HadoopLocation:
    store = ChecksumStore(directory, _root(directory))
    return _local("file:///", configuration(options), api, store, "hadoop-local")


def _mounted(directory: Path, options: Mapping[str, str], api: str) -> HadoopLocation:
    config = configuration({_LINK: directory.absolute().as_uri(), **options})
    return _local("viewfs:///", config, api, ChecksumStore(directory, _MOUNT), "hadoop-viewfs")


def _archived(directory: Path, options: Mapping[str, str], api: str) -> HadoopLocation:
    config = configuration(options)

    def make(archive: str) -> Any:
        uri = f"har://{quote(archive)}"
        return _context(uri, config) if api == APIS[1] else _new(uri, config)

    return ArchiveLocation(ArchiveStore(directory, _root(directory)), make)


def _local(uri: str, config: Any, api: str, store: Store, profile: str) -> HadoopLocation:
    if api == APIS[1]:
        return LocalHadoopLocation(_context(uri, config), store, profile)
    filesystem = _new(uri, config)
    return LocalHadoopLocation(filesystem, store, profile, (filesystem,))


def configuration(options: Mapping[str, str]) -> Any:
    """Return a Configuration with Hadoop's defaults and these options."""
    config = java_class("org.apache.hadoop.conf.Configuration")()
    for name, value in options.items():
        config.set(name, value)
    return config


def beside(context: Any, name: str) -> Any:
    """Return a new FileSystem to write the files of a FileContext; raise TargetError."""
    uri = "the URI of the FileContext"
    try:
        uri = str(context.getDefaultFileSystem().getUri())
        return _new(uri, configuration({}))
    except Exception as error:
        raise TargetError(
            f"{name}: no FileSystem for {mask_url(uri)}, which is required to write files"
        ) from error


def new_filesystem(url: str, options: Mapping[str, str]) -> Any:
    """Return Hadoop's filesystem at a URL, which no other code closes; exceptions are Java's."""
    return _new(url, configuration(options))


def _new(uri: str, config: Any) -> Any:
    return java_class("org.apache.hadoop.fs.FileSystem").newInstance(_uri(uri), config)


def _context(uri: str, config: Any) -> Any:
    return java_class("org.apache.hadoop.fs.FileContext").getFileContext(_uri(uri), config)


def _uri(text: str) -> Any:
    return java_class("java.net.URI").create(text)


def _root(directory: Path) -> str:
    return str(directory.absolute()).rstrip("/")


_LOCAL: dict[str, _Maker] = {
    "raw": _raw,
    "file": _checksummed,
    "viewfs": _mounted,
    "har": _archived,
}
#: Schemes of local directories.
SCHEMES = tuple(_LOCAL)
_PROFILES = {"http": "hadoop-http", "https": "hadoop-http", "ftp": "hadoop-ftp"}
