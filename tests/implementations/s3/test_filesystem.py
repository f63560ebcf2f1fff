"""Tests of S3FileSystem: those of all filesystems, and S3-specific ones."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import fsspec
import pytest

from fscontract.contract.api.errors import (
    FileAlreadyExistsException,
    FileNotFoundException,
    IllegalArgumentException,
    PathIOException,
    RemoteFileChangedException,
    UnsupportedOperationException,
)
from fscontract.contract.api.filesystem import ETAGS_AVAILABLE, FileSystem
from fscontract.implementations.options import MIB
from fscontract.implementations.s3.filesystem import S3FileStatus, S3FileSystem
from fscontract.implementations.s3.fsspec_adapter import Buckets, S3Fsspec
from tests.implementations import test_filesystem as shared
from tests.implementations.support import read, write


@pytest.fixture
def transport() -> str:
    """The default transport, which uses boto3 for what obstore can't do."""
    return "obstore"


class EachTransport:
    """Run tests with each transport."""

    @pytest.fixture(params=["obstore", "boto3"])
    def transport(self, request: pytest.FixtureRequest) -> str:
        """Each transport in turn."""
        return str(request.param)


class TestWriting(EachTransport, shared.TestWriting):
    """Shared tests of all filesystems."""

    def test_an_open_stream_keeps_the_version_it_opened(self, fs: FileSystem) -> None:
        """Or raises: the store keeps only the new version."""
        write(fs, "/a", b"old")
        with fs.open("/a") as stream:
            write(fs, "/a", b"newer")
            with pytest.raises(RemoteFileChangedException):
                stream.pread(0, bytearray(5))
            assert stream.read_byte() == ord("o")


class TestDirectories(shared.TestDirectories):
    """Shared tests of all filesystems."""

    def test_directory_exists_while_it_has_children(self, fs: FileSystem) -> None:
        write(fs, "/a/b", b"")
        assert fs.get_file_status("/a").is_directory
        fs.delete("/a/b")
        with pytest.raises(FileNotFoundException):
            fs.get_file_status("/a")

    def test_created_directory_persists(self, fs: FileSystem, client: Any) -> None:
        fs.mkdirs("/a")
        write(fs, "/a/b", b"")
        fs.delete("/a/b")
        assert fs.get_file_status("/a").is_directory
        assert list(fs.list_status("/a")) == []

    def test_deleting_an_empty_directory_keeps_the_parent(self, fs: FileSystem) -> None:
        fs.mkdirs("/d1/d2/d3")
        assert fs.delete("/d1/d2/d3")
        assert [status.path for status in fs.list_status("/d1")] == ["/d1/d2"]
        assert list(fs.list_status("/d1/d2")) == []

    def test_deleting_a_directory_with_files_keeps_the_parent(self, fs: FileSystem) -> None:
        write(fs, "/d1/d2/a", b"")
        write(fs, "/d1/d2/b", b"")
        assert fs.delete("/d1/d2", recursive=True)
        assert list(fs.list_status("/d1")) == []

    def test_moving_a_directory_keeps_the_parent(self, fs: FileSystem) -> None:
        fs.mkdirs("/d1/d2/d3")
        fs.rename("/d1/d2/d3", "/moved")
        assert [status.path for status in fs.list_status("/d1")] == ["/d1/d2"]

    @pytest.mark.parametrize("other", ["/d1/f", "/d1/d", "/d1/e/f"])
    def test_parent_with_other_children_gets_no_marker(
        self, fs: FileSystem, client: Any, bucket: str, other: str
    ) -> None:
        write(fs, other, b"")
        fs.mkdirs("/d1/d2")
        fs.delete("/d1/d2")
        found = client.list_objects_v2(Bucket=bucket)["Contents"]
        assert [item["Key"] for item in found] == [other[1:]]

    def test_failed_delete_creates_no_marker(
        self, fs: FileSystem, client: Any, bucket: str
    ) -> None:
        write(fs, "/d1/d2/f", b"")
        with pytest.raises(PathIOException, match="not empty"):
            fs.delete("/d1/d2")
        assert not fs.delete("/d1/missing")
        found = client.list_objects_v2(Bucket=bucket)["Contents"]
        assert [item["Key"] for item in found] == ["d1/d2/f"]

    def test_keys_that_are_invalid_paths_are_not_listed(
        self, fs: FileSystem, client: Any, bucket: str
    ) -> None:
        for key in ("d//x", "d/./x", "d/../x", "d/ok"):
            client.put_object(Bucket=bucket, Key=key, Body=b"")
        assert [status.path for status in fs.list_status("/d")] == ["/d/ok"]

    def test_keys_that_are_invalid_paths_move_with_their_directory(
        self, fs: FileSystem, client: Any, bucket: str
    ) -> None:
        client.put_object(Bucket=bucket, Key="d//x", Body=b"")
        fs.rename("/d", "/e")
        assert [o["Key"] for o in client.list_objects_v2(Bucket=bucket)["Contents"]] == ["e//x"]
        fs.delete("/e", recursive=True)
        assert "Contents" not in client.list_objects_v2(Bucket=bucket)

    def test_file_hides_directory_with_the_same_name(
        self, fs: FileSystem, client: Any, bucket: str
    ) -> None:
        for key in ("d/a", "d/a/b"):
            client.put_object(Bucket=bucket, Key=key, Body=b"x")
        assert not fs.get_file_status("/d/a").is_directory
        assert [(s.path, s.length) for s in fs.list_status("/d")] == [("/d/a", 1)]


class TestOpeningAndListing(shared.TestOpeningAndListing):
    """Shared tests of all filesystems."""

    def test_builder_sends_no_request_before_the_first_read(self, fs: FileSystem) -> None:
        stream = fs.open_file("/missing").build().result()
        with stream, pytest.raises(FileNotFoundException) as caught:
            stream.read_byte()
        assert caught.value.path == "/missing"

    def test_status_has_the_version(self, fs: FileSystem, client: Any, bucket: str) -> None:
        status = {"Status": "Enabled"}
        client.put_bucket_versioning(Bucket=bucket, VersioningConfiguration=status)
        write(fs, "/a", b"old")
        old = fs.get_file_status("/a")
        write(fs, "/a", b"newer")
        new = fs.get_file_status("/a")
        assert isinstance(old, S3FileStatus)
        assert isinstance(new, S3FileStatus)
        assert old.version_id not in (None, new.version_id)


class TestDeletingAndRenaming(shared.TestDeletingAndRenaming):
    """Shared tests of all filesystems."""


class TestCapabilities(shared.TestCapabilities):
    """Shared tests of all filesystems."""

    def test_buckets_have_the_capabilities_of_each_bucket(
        self, fs: S3FileSystem, bucket: str
    ) -> None:
        """The root directory has none."""
        buckets = Buckets({}, fs)
        assert buckets.has_path_capability(f"/{bucket}/a", ETAGS_AVAILABLE)
        assert not buckets.has_path_capability(f"/{bucket}/a", "fs.capability.none.such")
        assert not buckets.has_path_capability("/", ETAGS_AVAILABLE)


class TestPaths(EachTransport, shared.TestPaths):
    """Shared tests of all filesystems."""


class TestPermissions:
    def test_status_has_no_permissions(self, fs: FileSystem) -> None:
        with pytest.raises(UnsupportedOperationException):
            fs.access("/a", "r")
        with pytest.raises(UnsupportedOperationException):
            fs.set_permission("/a", 0o600)


@pytest.fixture
def small(bucket: str, options: dict[str, Any]) -> S3FileSystem:
    """A filesystem with the smallest part size."""
    return S3FileSystem(bucket, **options, part_size="5M", transport="obstore")


def uploads(client: Any, bucket: str) -> int:
    """Return the number of unfinished uploads."""
    return len(client.list_multipart_uploads(Bucket=bucket).get("Uploads", ()))


class TestLargeFiles:
    def test_small_file_is_one_request(self, small: S3FileSystem) -> None:
        write(small, "/a", bytes(5 * MIB))
        counts = small.io_statistics()
        assert (counts["object_put_request"], counts["object_multipart_initiated"]) == (1, 0)

    def test_large_file_is_uploaded_in_parts(self, small: S3FileSystem) -> None:
        data = bytes(5 * MIB) + b"more"
        with small.create("/a") as file:
            for start in range(0, len(data), MIB):
                file.write(data[start : start + MIB])
        counts = small.io_statistics()
        assert (counts["object_put_request"], counts["object_multipart_initiated"]) == (2, 1)
        assert small.get_file_status("/a").length == len(data)
        assert str(small.get_file_status("/a").etag).endswith("-2")

    def test_failed_write_leaves_no_upload(
        self, small: S3FileSystem, client: Any, bucket: str
    ) -> None:
        with suppress(ZeroDivisionError), small.create("/a") as file:
            file.write(bytes(6 * MIB))
            assert uploads(client, bucket) == 1
            raise ZeroDivisionError
        assert uploads(client, bucket) == 0
        lost = small.create("/a")
        lost.write(bytes(6 * MIB))
        del lost
        assert uploads(client, bucket) == 0
        assert list(small.list_status("/")) == []

    def test_garbage_collected_file_leaves_no_upload(
        self, small: S3FileSystem, client: Any, bucket: str
    ) -> None:
        file = small.create("/a", overwrite=False)
        file.write(bytes(6 * MIB))
        write(small, "/a", b"other")
        with pytest.raises(FileAlreadyExistsException):
            file.close()
        assert uploads(client, bucket) == 0
        assert read(small, "/a") == b"other"

    def test_failed_part_can_be_retried(
        self, small: S3FileSystem, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Python's buffered writer does this on flush."""
        part = small._store.part
        failures = [PathIOException("/a", "no luck")]

        def failing(*arguments: Any) -> str:
            if failures:
                raise failures.pop()
            return part(*arguments)

        monkeypatch.setattr(small._store, "part", failing)
        data = bytes(range(256)) * (24 << 10)
        file = small.create("/a")
        file.write(data[: 5 * MIB])
        with pytest.raises(PathIOException, match="no luck"):
            file.write(data[5 * MIB :])
        file.close()
        stored = read(small, "/a")
        assert len(stored) >= 5 * MIB
        assert stored == data[: len(stored)]

    def test_number_of_parts_is_limited(
        self, small: S3FileSystem, monkeypatch: pytest.MonkeyPatch, client: Any, bucket: str
    ) -> None:
        monkeypatch.setattr("fscontract.implementations.s3.object_store.MOST_PARTS", 1)
        with pytest.raises(PathIOException, match="part_size"):
            write(small, "/a", bytes(11 * MIB))
        assert uploads(client, bucket) == 0


class TestCreating(EachTransport):
    def test_only_one_of_concurrent_creates_succeeds(self, fs: S3FileSystem) -> None:
        files = [fs.create("/a", overwrite=False) for _ in range(4)]
        lost = []

        def close(file: Any) -> None:
            try:
                file.close()
            except FileAlreadyExistsException:
                lost.append(file)

        threads = [threading.Thread(target=close, args=(file,)) for file in files]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(lost) == 3


class TestRequests(EachTransport):
    @pytest.mark.parametrize(
        ("call", "heads", "lists"),
        [
            (lambda fs: fs.get_file_status("/d/a"), 1, 0),
            (lambda fs: fs.get_file_status("/d"), 1, 1),
            (lambda fs: list(fs.list_status("/d")), 0, 1),
            (lambda fs: list(fs.list_status("/d/a")), 1, 1),
            (lambda fs: fs.mkdirs("/d"), 0, 1),
            (lambda fs: fs.open("/d/a").close(), 0, 0),
        ],
    )
    def test_number_of_requests_per_operation(
        self, fs: S3FileSystem, call: Callable[[S3FileSystem], Any], heads: int, lists: int
    ) -> None:
        write(fs, "/d/a", b"x")
        before = fs.io_statistics()
        call(fs)
        after = fs.io_statistics()
        names = ("action_http_head_request", "object_metadata_request", "object_list_request")
        assert [after[name] - before[name] for name in names] == [heads, heads, lists]

    def test_long_listing_requests_pages_on_demand(
        self, fs: S3FileSystem, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("a-1", "a-2", "a/x", "b"):
            write(fs, f"/d/{name}", b"")
        listed = fs._store.list

        def by_one(prefix: str, delimiter: str = "", **more: Any) -> Any:
            return listed(prefix, delimiter, limit=1)

        monkeypatch.setattr(fs._store, "list", by_one)
        found = fs.list_status("/d")
        before = fs.io_statistics()["object_continue_list_request"]
        assert next(found).path == "/d/a"
        assert fs.io_statistics()["object_continue_list_request"] == before
        assert [status.path for status in found] == ["/d/a-1", "/d/a-2", "/d/b"]


class TestLife(EachTransport):
    def test_filesystem_works_after_close(self, fs: S3FileSystem) -> None:
        write(fs, "/a", b"x")
        fs.close()
        fs.close()
        assert read(fs, "/a") == b"x"
        assert fs.get_file_status("/a").length == 1

    def test_closed_filesystem_has_no_threads(self, fs: S3FileSystem) -> None:
        before = set(threading.enumerate())
        write(fs, "/d/a", b"x")
        fs.rename("/d", "/e")
        read(fs, "/e/a")
        fs.close()
        assert set(threading.enumerate()) <= before

    def test_pickle_keeps_the_configuration(
        self, bucket: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", options.pop("access_key"))
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", options.pop("secret_key"))
        fs = S3FileSystem(bucket, **options, retries=1)
        write(fs, "/a", b"x")
        shipped: S3FileSystem = pickle.loads(pickle.dumps(fs))
        assert shipped.config == fs.config
        assert read(shipped, "/a") == b"x"

    def test_repr_shows_bucket_and_endpoint(self, fs: S3FileSystem, bucket: str) -> None:
        assert repr(fs).startswith(f"S3FileSystem('{bucket}', endpoint='http://127.0.0.1")


class TestFsspec:
    @pytest.fixture
    def view(self, fs: S3FileSystem) -> S3Fsspec:
        """The filesystem through fsspec."""
        return fs.as_fsspec()

    def test_fsspec_paths_start_with_the_bucket(self, view: S3Fsspec, bucket: str) -> None:
        view.pipe_file(f"fscontract-s3://{bucket}/d/a", b"hello")
        assert view.cat_file(f"/{bucket}/d/a", 1, 3) == b"el"
        assert view.ls(f"{bucket}/d", detail=False) == [f"/{bucket}/d/a"]
        assert view.info(f"/{bucket}/d/a")["size"] == 5
        assert view.info(f"/{bucket}")["type"] == "directory"
        assert view.find(f"/{bucket}") == [f"/{bucket}/d/a"]

    def test_files_are_moved_and_removed(self, view: S3Fsspec, bucket: str) -> None:
        view.pipe_file(f"/{bucket}/d/a", b"hello")
        view.mv(f"/{bucket}/d", f"/{bucket}/e", recursive=True)
        view.cp_file(f"/{bucket}/e/a", f"/{bucket}/b")
        view.rm(f"/{bucket}/e", recursive=True)
        assert view.find(f"/{bucket}") == [f"/{bucket}/b"]

    def test_exclusive_creation_is_checked_by_the_store(self, view: S3Fsspec, bucket: str) -> None:
        with view.open(f"/{bucket}/a", "xb") as file:
            file.write(b"x")
        with pytest.raises(FileExistsError):
            view.open(f"/{bucket}/a", "xb")

    def test_buckets_are_not_listed(self, view: S3Fsspec) -> None:
        assert view.isdir("/")
        with pytest.raises(PathIOException, match="missing bucket"):
            view.ls("/")

    def test_fsspec_view_takes_filesystem_options(
        self, bucket: str, options: dict[str, Any]
    ) -> None:
        view = S3Fsspec(**options)
        view.pipe_file(f"/{bucket}/a", b"x")
        assert view.exists(f"/{bucket}/a")
        with pytest.raises(IllegalArgumentException, match="did you mean endpoint"):
            S3Fsspec(endpont="http://x")

    def test_importing_other_views_does_not_load_s3(self) -> None:
        import subprocess
        import sys

        code = "import sys, fscontract.implementations.fsspec_adapter; print(*sys.modules)"
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
        )
        assert not [m for m in run.stdout.split() if ".s3" in m or m in ("obstore", "botocore")]

    def test_pickle_works_where_keys_are_available(
        self, view: S3Fsspec, bucket: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        view.pipe_file(f"/{bucket}/a", b"x")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
        shipped = pickle.loads(pickle.dumps(view))
        assert isinstance(shipped, fsspec.AbstractFileSystem)
        assert shipped.cat_file(f"/{bucket}/a") == b"x"
