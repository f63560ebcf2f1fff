"""Small files, read and written whole."""

from __future__ import annotations

from fscontract.contract.ports import FileStatus, FileSystem


def read_file(fs: FileSystem, path: str) -> bytes:
    """The bytes of a file; FileNotFoundException."""
    with fs.open(path) as stream, stream.as_file() as file:
        return file.read()


def write_file(fs: FileSystem, path: str, content: bytes, replace: bool = False) -> None:
    """Write a file at once; FileAlreadyExistsException if there is one, unless `replace`."""
    with fs.create(path, overwrite=replace) as file:
        file.write(content)


def list_files(fs: FileSystem, directory: str) -> list[FileStatus]:
    """The files of a directory, none if it is not there."""
    try:
        return [status for status in fs.list_status(directory) if not status.is_directory]
    except FileNotFoundError:
        return []
