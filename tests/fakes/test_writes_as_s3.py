"""Random programs of writes have the same outcomes on the fake and on S3 servers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from fscontract.contract.api.filesystem import FileSystem
from fscontract.fakes import FakeFileSystem
from fscontract.fakes.filesystem.store import Store
from fscontract.implementations.filesystem_base import PendingFile
from fscontract.implementations.s3.filesystem import S3FileSystem
from servers.s3.clients import boto3_client, new_bucket
from servers.s3.servers import serving
from tests.fakes.write_programs import FLAT, LARGE, PART, PATHS, outcomes, programs

#: Programs of small files, and of files some of which are written in parts.
ORDINARY, ORDINARY_LARGE = 8, 2
DEEP, DEEP_LARGE = 500, 100
#: Programs within which each mutant is found.
MUTANT = 60


@contextmanager
def buckets(server: str) -> Iterator[Callable[[], FileSystem]]:
    """Return a function that makes a filesystem of a new bucket on a server."""
    with ExitStack() as stack:
        running = stack.enter_context(serving(server))
        client = stack.enter_context(boto3_client(running))

        def make() -> FileSystem:
            fs = S3FileSystem(new_bucket(client), **running.client_options, part_size=PART)
            stack.callback(fs.close)
            return fs

        yield make


def fake(**settings: Any) -> FakeFileSystem:
    return FakeFileSystem(implicit_directories=True, **settings)


def assert_same(server: str, seed: int, count: int, large: int, paths: tuple[str, ...]) -> None:
    with buckets(server) as bucket:
        for share, number in ((0.0, count), (0.5, large)):
            for program in programs(seed, number, paths, share):
                assert outcomes(fake(), program) == outcomes(bucket(), program), program


def test_writes_do_on_the_fake_what_they_do_on_s3(seed: int) -> None:
    assert_same("moto", seed, ORDINARY, ORDINARY_LARGE, PATHS)


@pytest.mark.deep
def test_500_programs_of_writes_do_on_the_fake_what_they_do_on_s3(seed: int) -> None:
    assert_same("moto", seed, DEEP, DEEP_LARGE, PATHS)


@pytest.mark.deep
def test_writes_of_files_do_on_the_fake_what_they_do_on_seaweedfs(seed: int) -> None:
    """SeaweedFS keeps directories whose objects are gone, so files are in none."""
    assert_same("seaweedfs", seed, DEEP // 5, DEEP_LARGE // 5, FLAT)


@pytest.mark.deep
def test_seaweedfs_lists_the_directory_of_a_deleted_object() -> None:
    """Programs with directories differ from the fake by this alone."""
    with serving("seaweedfs") as server, boto3_client(server) as client:
        bucket = new_bucket(client)
        client.put_object(Bucket=bucket, Key="d/a", Body=b"")
        client.delete_object(Bucket=bucket, Key="d/a")
        listing = client.list_objects_v2(Bucket=bucket, Delimiter="/")
    assert [prefix["Prefix"] for prefix in listing["CommonPrefixes"]] == ["d/"]


# Mutants: each is found within some programs ------------------------------------------------------


def _unconditional(monkeypatch: pytest.MonkeyPatch) -> None:
    """A create that must not replace a file is checked when the file is opened only."""
    put = Store.put
    monkeypatch.setattr(Store, "put", lambda self, path, data, _: put(self, path, data, True))


def _published_abort(monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that an exception ends is published."""
    monkeypatch.setattr(PendingFile, "__exit__", lambda self, *_: self.close())


def _always_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A delete of a missing file returns True."""
    delete = Store.delete
    monkeypatch.setattr(Store, "delete", lambda *arguments: delete(*arguments) or True)


def _one_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file ends with its first part."""
    put = Store.put
    monkeypatch.setattr(
        Store, "put", lambda self, path, data, overwrite: put(self, path, data[:PART], overwrite)
    )


@pytest.mark.parametrize("mutant", [_unconditional, _published_abort, _always_deleted, _one_part])
def test_mutant_is_found(
    mutant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    large = 0.5 if mutant is _one_part else 0.0
    given = list(programs(seed, 10 if large else MUTANT, PATHS, large))
    right = [outcomes(fake(), program) for program in given]
    mutant(monkeypatch)
    assert any(outcomes(fake(), p) != r for p, r in zip(given, right, strict=True)), mutant.__doc__


def test_fake_with_explicit_directories_is_found(seed: int) -> None:
    given = programs(seed, MUTANT)
    assert any(outcomes(FakeFileSystem(), p) != outcomes(fake(), p) for p in given)


def test_fake_with_other_settings_is_not_found(seed: int) -> None:
    """Blocks, replicas and retries change no write."""
    for program in programs(seed, MUTANT):
        other = fake(block_size=7, replicas=1, retries=0)
        assert outcomes(other, program) == outcomes(fake(), program), program


def test_some_programs_write_files_of_several_parts() -> None:
    calls = [call for program in programs(0, 20, PATHS, 0.5) for call in program]
    large = {c.name for c in calls if isinstance(c.argument, bytes) and len(c.argument) == LARGE}
    assert large == {"write", "create", "abort", "race", "late"}
