"""The files of a read-only target, from --file and --content."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

#: The most files of a target: the suite runs once for each of them.
_MOST = 20


def pairs(files: Sequence[str], contents: Sequence[Path]) -> list[tuple[str, Path]]:
    """Return each file with its local copy. Raise UsageError.

    A directory as the copy stands for the files in it; they have the same names below the URL that
    goes with it, or below the target if there is none.
    """
    if not files and contents and all(content.is_dir() for content in contents):
        files = [""] * len(contents)
    if len(files) != len(contents):
        raise click.UsageError(
            "--file and --content must be used together, once for each file; "
            f"got {len(files)} --file and {len(contents)} --content"
        )
    found = [
        pair for file, content in zip(files, contents, strict=True) for pair in _of(file, content)
    ]
    if len(found) > _MOST:
        raise click.UsageError(
            f"--content: {len(found)} files; at most {_MOST} are checked, as the suite runs once "
            "for each"
        )
    return found


def _of(file: str, content: Path) -> Iterator[tuple[str, Path]]:
    if not content.is_dir():
        yield file, content
        return
    names = sorted(path.relative_to(content) for path in content.rglob("*") if path.is_file())
    shown = [name for name in names if not any(part.startswith(".") for part in name.parts)]
    if not shown:
        raise click.UsageError(f"--content: no files in directory: {content}")
    for name in shown:
        base = f"{file.rstrip('/')}/" if file else ""
        yield f"{base}{name.as_posix()}", content / name
