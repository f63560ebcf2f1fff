"""Mutants of plain open(): paths without a file, and files with unusual names."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Callable
from urllib.parse import unquote

from fscontract.contract.api.errors import (
    FileNotFoundException,
    IllegalArgumentException,
    PathIOException,
)
from fscontract.contract.api.filesystem import FSDataInputStream
from fscontract.fakes.mutants.correct_parts import MutantFileSystem
from fscontract.fakes.mutants.openfile.variants import DoomedStream
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.implementations.filesystem_base import not_found
from fscontract.implementations.memory import MemoryInputStream
from fscontract.implementations.openfile_builder import OpenOptions


class LooseFileSystem(MutantFileSystem):
    """A filesystem that declares no strict exceptions."""

    features = ("!supports-strict-exceptions",)


def _is_missing(filesystem: MutantFileSystem, path: str) -> bool:
    return path != "" and not filesystem._exists(path)


def _is_directory(filesystem: MutantFileSystem, path: str) -> bool:
    return not _is_missing(filesystem, path) and filesystem.get_file_status(path).is_directory


@mutant("open.missing", MutantFileSystem.open)
def key_error(
    self: MutantFileSystem, path: str, buffer_size: int | None = None
) -> FSDataInputStream:
    """open() of a missing path raises the KeyError of the store's client."""
    try:
        return right(self).open(path, buffer_size)
    except FileNotFoundException as error:
        raise KeyError(path) from error


@mutant("open.missing", MutantFileSystem.open)
def plain_io_error(
    self: MutantFileSystem, path: str, buffer_size: int | None = None
) -> FSDataInputStream:
    """open() of a missing path raises a plain IOException, not FileNotFoundException."""
    if _is_missing(self, path):
        raise PathIOException(path, "status 404")
    return right(self).open(path, buffer_size)


@mutant("open.missing-class", LooseFileSystem.open)
def status_404(
    self: LooseFileSystem, path: str, buffer_size: int | None = None
) -> FSDataInputStream:
    """open() of a missing path raises the same IOException as for any error of the store."""
    if _is_missing(self, path):
        raise PathIOException(path, "status 404")
    return right(self).open(path, buffer_size)


@mutant("open.presence", MutantFileSystem.open)
def opens_lazily(
    self: MutantFileSystem, path: str, buffer_size: int | None = None
) -> FSDataInputStream:
    """open() does not look whether there is a file; the first read raises FileNotFoundException."""
    if _is_missing(self, path):
        return DoomedStream(path, not_found(path))
    return right(self).open(path, buffer_size)


@mutant("open.nothing-read", MutantFileSystem.open)
def missing_is_empty(
    self: MutantFileSystem, path: str, buffer_size: int | None = None
) -> FSDataInputStream:
    """A missing path opens as an empty file."""
    if _is_missing(self, path):
        return MemoryInputStream(b"", path)
    return right(self).open(path, buffer_size)


@mutant("open.nothing-read", MutantFileSystem.open)
def empty_path_is_root(
    self: MutantFileSystem, path: str, buffer_size: int | None = None
) -> FSDataInputStream:
    """An empty path is taken for the root directory, which opens as an empty file."""
    if path == "":
        return MemoryInputStream(b"", "/")
    return right(self).open(path, buffer_size)


@mutant("open.directory", MutantFileSystem.open)
def directory_is_empty(
    self: MutantFileSystem, path: str, buffer_size: int | None = None
) -> FSDataInputStream:
    """A directory opens as an empty file."""
    if path != "" and _is_directory(self, path):
        return MemoryInputStream(b"", path)
    return right(self).open(path, buffer_size)


@mutant("open.directory", MutantFileSystem.open)
def empty_directory_is_marker(
    self: MutantFileSystem, path: str, buffer_size: int | None = None
) -> FSDataInputStream:
    """A directory without files opens as the empty object that marks it."""
    if path != "" and _is_directory(self, path) and not [*self.list_status(path)]:
        return MemoryInputStream(b"", path)
    return right(self).open(path, buffer_size)


@mutant("open.directory", MutantFileSystem.open)
def directory_is_illegal(
    self: MutantFileSystem, path: str, buffer_size: int | None = None
) -> FSDataInputStream:
    """open() of a directory raises IllegalArgumentException."""
    if path != "" and _is_directory(self, path):
        raise IllegalArgumentException(f"{path} is a directory")
    return right(self).open(path, buffer_size)


@mutant("open.below-file", MutantFileSystem.open)
def walks_into_file(
    self: MutantFileSystem, path: str, buffer_size: int | None = None
) -> FSDataInputStream:
    """open() of a path below a file raises the AttributeError of looking for children of a file."""
    if _is_missing(self, path) and not _is_missing(self, path.rpartition("/")[0] or "/"):
        parent = path.rpartition("/")[0] or "/"
        if not _is_directory(self, parent):
            raise AttributeError("'_File' object has no attribute 'children'")
    return right(self).open(path, buffer_size)


@mutant("open.empty-path", MutantFileSystem.open)
def first_character(
    self: MutantFileSystem, path: str, buffer_size: int | None = None
) -> FSDataInputStream:
    """open() of an empty path raises the IndexError of looking at its first character."""
    if path[0] != "/":
        path = "/" + path
    return right(self).open(path, buffer_size)


@mutant("open.unreadable", MutantFileSystem.open)
def denies_by_runtime_error(
    self: MutantFileSystem, path: str, buffer_size: int | None = None
) -> FSDataInputStream:
    """A missing permission raises a RuntimeError."""
    try:
        return right(self).open(path, buffer_size)
    except PermissionError as error:
        raise RuntimeError("403") from error


def _renaming(says: str, rename: Callable[[str], str], name: str) -> None:
    """Register a mutant that opens files by a changed name."""

    def opens(
        self: MutantFileSystem, path: str, buffer_size: int | None = None
    ) -> FSDataInputStream:
        return right(self).open(rename(path), buffer_size)

    opens.__doc__ = says
    mutant("open.name", MutantFileSystem.open, name=name)(opens)


_renaming("Percent escapes in a path are decoded.", unquote, "DecodesPercent")
_renaming(
    "Paths are brought into composed form.",
    lambda path: unicodedata.normalize("NFC", path),
    "Composes",
)
_renaming("White space around a path is removed.", str.strip, "Strips")
_renaming("What follows # in a path is dropped.", lambda path: path.split("#")[0], "DropsFragment")
_renaming("A path is cut after 200 characters.", lambda path: path[:200], "CutsPath")
_renaming(
    "Characters outside of ASCII are replaced.",
    lambda path: path.encode("ascii", "replace").decode(),
    "OnlyAscii",
)


class ChangedNames(MutantFileSystem):
    """A filesystem that changes names when it writes and when it reads, in the same way."""

    def change(self, path: str) -> str:
        """Return the path under which a file is kept."""
        raise NotImplementedError

    def create(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
        return super().create(self.change(path), overwrite)

    def delete(self, path: str, recursive: bool = False) -> bool:
        return super().delete(self.change(path), recursive)

    def _open(self, path: str, options: OpenOptions) -> MemoryInputStream:
        return super()._open(self.change(path), options)


@mutant("open.name")
class TrimsNames(ChangedNames):
    """White space around a path is removed, so two names are one file."""

    def change(self, path: str) -> str:
        return path.strip()


@mutant("open.name")
class DecodesSpaces(ChangedNames):
    """Escaped spaces of a path are decoded, so two names are one file."""

    def change(self, path: str) -> str:
        return path.replace("%20", " ")


@mutant("open.name")
class DropsQueries(ChangedNames):
    """A path ends at # or ?, so two names are one file."""

    def change(self, path: str) -> str:
        return path.partition("#")[0].partition("?")[0]
