"""Tests of glob patterns, and of missing inputs."""

from __future__ import annotations

import pytest

from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.spark_source.errors import SourceException
from fscontract.pipeline.spark_source.request import expand

FILES = ("/in/a.txt", "/in/b.txt", "/in/b.log", "/in/x[1]", "/in/sub/c.txt", "/in2/d/e.txt")


@pytest.fixture
def fs() -> MemoryFileSystem:
    """A filesystem with some files."""
    made = MemoryFileSystem()
    for path in FILES:
        with made.create(path) as file:
            file.write(b"x")
    return made


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("/in/*.txt", ["/in/a.txt", "/in/b.txt"]),
        ("/in/?.txt", ["/in/a.txt", "/in/b.txt"]),
        ("/in/[b-z].*", ["/in/b.log", "/in/b.txt"]),
        ("/in/[^b-z].*", ["/in/a.txt"]),
        ("/in/b.{txt,log}", ["/in/b.log", "/in/b.txt"]),
        ("/in*/*/*.txt", ["/in/sub/c.txt", "/in2/d/e.txt"]),
        ("/in*/sub/c.txt", ["/in/sub/c.txt"]),
        ("/in/s*", ["/in/sub"]),
        ("/in/a.txt", ["/in/a.txt"]),
        ("/in/x[1]", ["/in/x[1]"]),
        ("s3://bucket/in/a.*", ["s3://bucket/in/a.txt"]),
    ],
)
def test_pattern_is_replaced_by_its_matches(
    fs: MemoryFileSystem, pattern: str, found: list[str]
) -> None:
    """In the order of listings; an existing path is not a pattern."""
    assert expand(fs, [pattern]) == found


def test_files_matching_several_patterns_occur_once(fs: MemoryFileSystem) -> None:
    """At its first position."""
    assert expand(fs, ["/in/b.txt", "/in/*.txt"]) == ["/in/b.txt", "/in/a.txt"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/in/none", "input not found: '/in/none'"),
        ("/in/*.csv", "no file or directory matches '/in/[*].csv'"),
        ("/none*/x", "no file or directory matches '/none[*]/x'"),
        ("/in/a.txt/*", "no file or directory matches"),
        ("/in/[b-a]", "invalid pattern '.b-a.'"),
    ],
)
def test_missing_input_raises(fs: MemoryFileSystem, path: str, said: str) -> None:
    """With the path as it was given."""
    with pytest.raises(SourceException, match=said):
        expand(fs, ["/in/a.txt", path])
