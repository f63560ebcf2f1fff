"""Tests of object store operations other than reads, with each transport on a real server."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from fscontract.contract.api.errors import FileAlreadyExistsException, FileNotFoundException
from fscontract.implementations.options import MIB
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.errors import ObjectLocation
from fscontract.implementations.s3.object_store import (
    Namespace,
    ObjectInfo,
    ObjectStore,
    Page,
    etag_of,
)
from fscontract.implementations.s3.transports.boto3 import Boto3Namespace
from fscontract.implementations.s3.transports.selection import namespace

PART = bytes(5 * MIB)


@pytest.fixture
def names(config: S3Config) -> Iterator[Namespace]:
    """The bucket, with each transport."""
    made = namespace(config)
    yield made
    made.close()


@pytest.fixture
def store(names: Namespace, bucket: str) -> ObjectStore:
    """The bucket, with immediate retries."""
    return ObjectStore(bucket, lambda: names, retries=0)


def keys(pages: Iterator[Page]) -> list[str]:
    """All keys of a listing."""
    return [info.key for page in pages for info in page.objects]


class TestObjects:
    def test_head_returns_the_metadata_of_put(self, store: ObjectStore) -> None:
        written = store.put("a/b", b"hello")
        info = store.head("a/b")
        assert (info.key, info.length, info.etag, info.version) == ("a/b", 5, *written)
        assert info.etag == "5d41402abc4b2a76b9719d911017c592"
        assert info.modified > 1e9

    @pytest.mark.parametrize("data", [b"", b"x", bytearray(b"xyz")])
    def test_put_accepts_any_bytes_type(self, store: ObjectStore, data: bytes) -> None:
        store.put("key", data)
        assert store.head("key").length == len(data)

    @pytest.mark.parametrize(
        "key",
        ["ä%20?#*&+=", "a b", "..a", "dir/", "a//b", "a/../b", "\\", "<&>", "a\tb", "~", "/x", "."],
    )
    def test_unusual_keys_are_supported(self, store: ObjectStore, key: str) -> None:
        store.put(key, b"1")
        store.put("other", b"22")
        assert store.head(key).length == 1
        assert sorted(keys(store.list(""))) == sorted([key, "other"])
        store.copy(store.head(key), "copy")
        store.delete([key])
        assert sorted(keys(store.list(""))) == ["copy", "other"]

    def test_directory_marker_and_file_are_separate_keys(self, store: ObjectStore) -> None:
        store.put("dir", b"a file")
        store.put("dir/", b"")
        assert (store.head("dir").length, store.head("dir/").length) == (6, 0)
        store.delete(["dir/"])
        assert keys(store.list("")) == ["dir"]

    def test_missing_key_raises_file_not_found(self, store: ObjectStore) -> None:
        with pytest.raises(FileNotFoundException) as caught:
            store.head("missing")
        assert caught.value.path == "/missing"
        with pytest.raises(FileNotFoundException):
            store.copy(ObjectInfo("missing", 0), "target")

    def test_a_version_is_found_by_its_id(
        self, store: ObjectStore, client: Any, bucket: str
    ) -> None:
        status = {"Status": "Enabled"}
        client.put_bucket_versioning(Bucket=bucket, VersioningConfiguration=status)
        old, new = store.put("key", b"old"), store.put("key", b"newer")
        assert old.version not in (None, new.version)
        assert store.head("key").version == new.version
        assert store.head("key", old.version).length == 3

    def test_create_fails_if_the_object_exists(self, store: ObjectStore) -> None:
        store.put("key", b"first", create=True)
        with pytest.raises(
            FileAlreadyExistsException, match=r"the file already exists.*'/key'"
        ) as caught:
            store.put("key", b"second", create=True)
        assert isinstance(caught.value, FileExistsError)
        assert store.head("key").length == 5

    def test_copy_requires_the_expected_version(
        self, store: ObjectStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Copy requests contain the etag; moto ignores it."""
        asked: list[Any] = []
        wrapped = Boto3Namespace._send

        def send(self: Any, place: ObjectLocation, call: Any, **given: Any) -> Any:
            asked.append(given.get("CopySourceIfMatch"))
            return wrapped(self, place, call, **given)

        store.put("key", b"old")
        info = store.head("key")
        monkeypatch.setattr(Boto3Namespace, "_send", send)
        store.copy(info, "copy")
        store.copy_limit = 0
        store.copy(info, "copy")
        assert asked.count(f'"{info.etag}"') == 2

    def test_missing_bucket_error_names_it(self, options: dict[str, Any], transport: str) -> None:
        config = S3Config.of("no-such-bucket", {**options, "transport": transport})
        store = ObjectStore(config.bucket, lambda: namespace(config), retries=0)
        for call in (lambda: next(store.list("")), lambda: store.put("key", b"")):
            with pytest.raises(FileNotFoundException, match=r"NoSuchBucket.*'no-such-bucket'"):
                call()


class TestParts:
    def test_multipart_object_appears_on_completion(self, store: ObjectStore) -> None:
        upload = store.begin("key")
        etags = [store.part("key", upload, 1, PART), store.part("key", upload, 2, b"rest")]
        assert keys(store.list("")) == []
        written = store.complete("key", upload, etags)
        assert store.head("key").length == len(PART) + 4
        assert store.head("key").etag == written.etag == etag_of(etags)

    def test_aborted_upload_leaves_nothing(
        self, store: ObjectStore, client: Any, bucket: str
    ) -> None:
        upload = store.begin("key")
        store.part("key", upload, 1, b"rest")
        assert client.list_multipart_uploads(Bucket=bucket)["Uploads"]
        store.abort("key", upload)
        assert "Uploads" not in client.list_multipart_uploads(Bucket=bucket)
        store.abort("key", upload)

    def test_multipart_create_fails_if_the_object_exists(self, store: ObjectStore) -> None:
        upload = store.begin("key")
        etags = [store.part("key", upload, 1, b"parts")]
        store.put("key", b"other")
        with pytest.raises(FileAlreadyExistsException):
            store.complete("key", upload, etags, create=True)
        store.abort("key", upload)
        assert store.head("key").etag == store.put("key", b"other").etag

    def test_a_large_object_is_copied_in_parts(self, store: ObjectStore) -> None:
        store.copy_limit, store.copy_part = 5 * MIB, 5 * MIB
        content = PART + b"x" * 100
        store.put("key", content)
        store.copy(store.head("key"), "copy")
        copied = store.head("copy")
        assert copied.length == len(content)
        assert str(copied.etag).endswith("-2")

    def test_failed_multipart_copy_leaves_no_upload(
        self, store: ObjectStore, client: Any, bucket: str
    ) -> None:
        store.copy_limit, store.copy_part = 0, 5 * MIB
        with pytest.raises(FileNotFoundException):
            store.copy(ObjectInfo("missing", 10), "copy")
        assert "Uploads" not in client.list_multipart_uploads(Bucket=bucket)


class TestListing:
    def test_pages_are_requested_on_demand(self, names: Namespace, bucket: str) -> None:
        counted: list[str] = []
        store = ObjectStore(bucket, lambda: names, 0, counted.append)
        for number in range(5):
            names.put(f"d/{number}", b"")
        pages = store.list("d/", limit=2)
        assert counted == []
        assert keys(islice(pages, 2)) == ["d/0", "d/1", "d/2", "d/3"]
        assert counted == ["object_list_request", "object_continue_list_request"]
        assert keys(pages) == ["d/4"]

    def test_delimiter_groups_deeper_keys(self, store: ObjectStore) -> None:
        for key in ("d/a", "d/b/1", "d/b/2", "d/c/", "dd"):
            store.put(key, b"")
        (page,) = store.list("d/", "/")
        assert [info.key for info in page.objects] == ["d/a"]
        assert page.prefixes == ("d/b/", "d/c/")

    def test_listing_starts_after_a_key(self, store: ObjectStore) -> None:
        for key in "abcd":
            store.put(key, b"")
        assert keys(store.list("", after="b", limit=1)) == ["c", "d"]

    def test_listing_has_the_metadata_of_head_except_the_version(self, store: ObjectStore) -> None:
        store.put("key", b"hello")
        ((listed,), _, _) = next(store.list(""))
        info = store.head("key")
        assert (listed.length, listed.etag) == (info.length, info.etag)
        assert listed.modified == pytest.approx(info.modified, abs=1)

    def test_any_number_of_keys_is_deleted(self, names: Namespace, bucket: str) -> None:
        """Includes missing keys."""
        counted: list[str] = []
        store = ObjectStore(bucket, lambda: names, 0, counted.append)
        names.put("k1500", b"")
        names.put("stays", b"")
        store.delete([f"k{number}" for number in range(2001)])
        assert keys(store.list("")) == ["stays"]
        assert counted.count("object_bulk_delete_request") == 3
        assert counted.count("object_delete_objects") == 2001
        store.delete([])
