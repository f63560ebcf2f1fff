"""Answers of the S3 servers of the tests, all of which streams must support."""

from __future__ import annotations

import http.client
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fscontract.contract.program.content import content, replacement
from servers.s3.servers import NAMES
from servers.s3.signed import Server, ask, opened
from tests.s3.describe import described
from tests.s3.facts import DATA, FACTS, OTHER, Fact
from tests.s3.table import rendered

_VERSIONED = b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
#: More than a server and the system hold ready for a client that does not read.
_LARGE = 24 << 20


@pytest.mark.parametrize("fact", FACTS, ids=str)
def test_a_server_answers_as_the_facts_say(fact: Fact, server: Server, bucket: str) -> None:
    """The status, Content-Range, body, code and ETag are those of the table."""
    etag = ask(server, "PUT", f"/{bucket}/whole", body=DATA).headers["etag"]
    ask(server, "PUT", f"/{bucket}/empty")
    method, key = fact.request.split(" ")
    body = OTHER if method == "PUT" else b""
    seen = described(method, ask(server, method, f"/{bucket}/{key}", fact.sent(etag), body))
    if method == "PUT":
        seen += "; " + described("GET", ask(server, "GET", f"/{bucket}/{key}")).partition(" ")[2]
    assert seen == fact.expected(server.name)


def test_facts_name_servers_that_exist_and_deviate() -> None:
    """A deviation is from the usual answer, and of a server that the tests have."""
    for fact in FACTS:
        assert set(fact.others) <= set(NAMES)
        assert fact.usual not in fact.others.values()


def test_the_findings_have_the_table() -> None:
    """The page says what the facts say, and no more."""
    page = Path(__file__).resolve().parents[2] / "docs" / "findings.md"
    assert f"-->\n{rendered()}<!--" in page.read_text(encoding="utf-8")


def test_a_missing_bucket_is_named_as_such(server: Server) -> None:
    """No server takes it for a missing key."""
    assert ask(server, "GET", "/no-such-bucket/key").code == "NoSuchBucket"


def test_boto3_reads_what_it_wrote(client: Any, bucket: str) -> None:
    """With its default checksums, too."""
    client.put_object(Bucket=bucket, Key="key", Body=DATA)
    assert client.get_object(Bucket=bucket, Key="key")["Body"].read() == DATA


def test_a_wrong_secret_is_noticed_by_some(server: Server, bucket: str) -> None:
    """SeaweedFS and rclone check signatures, so a client that signs wrongly fails there."""
    ask(server, "PUT", f"/{bucket}/key", body=DATA)
    answer = ask(replace(server, secret_key="wrong"), "GET", f"/{bucket}/key")
    checks = server.name in {"seaweedfs", "rclone"}
    assert described("GET", answer) == ("403 SignatureDoesNotMatch" if checks else "200 all")


def test_versions_are_kept_by_some(server: Server, bucket: str) -> None:
    """Moto and SeaweedFS return an old version by its id; the others keep no versions."""
    enabled = ask(server, "PUT", f"/{bucket}?versioning", body=_VERSIONED)
    old = ask(server, "PUT", f"/{bucket}/key", body=DATA)
    ask(server, "PUT", f"/{bucket}/key", body=OTHER)
    refused = {"rclone": "501 NotImplemented", "s3rver": "409 BucketAlreadyExists"}
    if server.name in refused:
        assert described("PUT", enabled) == refused[server.name]
        assert "x-amz-version-id" not in old.headers
    else:
        version = old.headers["x-amz-version-id"]
        path = f"/{bucket}/key?versionId="
        assert described("GET", ask(server, "GET", path + version)) == "200 all"
        bogus = "3sL4kqtJlcpXroDTDmJrmSpXd3dIbrHY"
        assert described("GET", ask(server, "GET", path + bogus)) == "404 NoSuchVersion"


def test_an_answer_is_of_one_object_though_it_is_replaced_on_the_way(
    server: Server, bucket: str
) -> None:
    """Only s3rver continues with the new object, or disconnects, and no header shows it."""
    old = content(_LARGE)
    ask(server, "PUT", f"/{bucket}/key", body=old)
    with opened(server, "GET", f"/{bucket}/key", {"Range": "bytes=0-"}) as response:
        begin = response.read(1 << 20)
        assert ask(server, "PUT", f"/{bucket}/key", body=replacement(old)).status == 200
        try:
            got = begin + response.read()
        except http.client.IncompleteRead as error:
            got = begin + error.partial
    assert (got == old) == (server.name != "s3rver")
