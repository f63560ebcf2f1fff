"""Tests of directory listings from pages sorted by key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from fscontract.implementations.s3.filesystem import children
from fscontract.implementations.s3.object_store import ObjectInfo, Page


class TestChildren:
    """Children sorted by path, from pages sorted by key."""

    @staticmethod
    def pages(names: Sequence[str], most: int) -> Iterator[Page]:
        """Yield the pages of a delimited listing of `d/`, as S3 returns them."""
        entries = sorted({n[: n.index("/") + 1] if "/" in n else n for n in names})
        for start in range(0, len(entries), most):
            part = entries[start : start + most]
            objects = tuple(ObjectInfo(f"d/{e}", 0) for e in part if not e.endswith("/"))
            prefixes = tuple(f"d/{e}" for e in part if e.endswith("/"))
            yield Page(objects, prefixes, "more" if start + most < len(entries) else None)

    @pytest.mark.parametrize("most", [1, 2, 3, 4, 100])
    def test_children_are_sorted_by_path(self, most: int) -> None:
        names = ["a/x", "a.b", "a-1", "a-1/x", "a!/x", "a!b", "b", "b/x", "b.c/x", "b.c.d", "ab/x"]
        names += ["c-d-e", "c-d/x", "c/x", "zz", "zz-1"]
        asked: list[str] = []

        def probe(name: str) -> bool:
            asked.append(name)
            return any(n.startswith(f"{name}/") for n in names)

        found = list(children(self.pages(names, most), "d/", probe))
        shown = {name.split("/")[0] for name in names}
        assert [name for name, _ in found] == sorted(shown)
        assert {name for name, info in found if info is None} == shown - set(names)
        assert len(asked) == len(set(asked))
        assert asked or most == 100

    def test_keys_that_are_invalid_paths_are_skipped(self) -> None:
        objects = tuple(ObjectInfo(f"d/{name}", 0) for name in ("", ".", "..", "a\0b", "ok"))
        page = Page(objects, ("d//", "d/./", "d/../"))
        assert [name for name, _ in children([page], "d/", lambda name: False)] == ["ok"]
