"""The children of a directory in the order of their paths, out of a listing in that of keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from fscontract.implementations.s3.store import ObjectInfo, Page


def nameable(name: str) -> bool:
    """Whether a path may have an element of this name."""
    return name not in ("", ".", "..") and "\0" not in name


def children(
    pages: Iterable[Page], prefix: str, probe: Callable[[str], bool]
) -> Iterator[tuple[str, ObjectInfo | None]]:
    """Name and object of each child below `prefix`, sorted, no object for a directory.

    Keys that no path can name are left out, and directories that a file has the name of. `probe`
    tells whether there is a directory of a name; it is asked where one page does not show that.

    The key of a directory has a slash at its end, so "a.b" is listed before "a/", although the
    path "a" comes first. What may still come and belongs before the end of a page is a directory
    whose name that end begins with, followed by something less than a slash: of those there are
    few, so that nothing has to be held back.
    """
    told: set[str] = set()  # directories that were asked for
    files: set[str] = set()  # files that directories yet to come may have the names of
    for page in pages:
        found = _names(page, prefix, told | files)
        if page.more is not None:
            last = max(_keys(page))[len(prefix) :]
            files = {
                name
                for name in files | {n for n, info in found.items() if info is not None}
                if last.startswith(name)
            }
            for name in _before_slash(last) - told - files:
                told.add(name)
                if name not in found and probe(name):
                    found[name] = None
        yield from sorted(found.items())


def _names(page: Page, prefix: str, hidden: set[str]) -> dict[str, ObjectInfo | None]:
    found: dict[str, ObjectInfo | None] = {}
    for directory in page.prefixes:
        name = directory[len(prefix) : -1]
        if name not in hidden:
            found[name] = None
    for info in page.objects:
        found[info.key[len(prefix) :]] = info
    return {name: info for name, info in found.items() if nameable(name)}


def _keys(page: Page) -> list[str]:
    return [*page.prefixes, *(info.key for info in page.objects)]


def _before_slash(last: str) -> set[str]:
    """What `last` begins with, and has something less than a slash after."""
    return {name for i, c in enumerate(last) if c < "/" and nameable(name := last[:i])}
