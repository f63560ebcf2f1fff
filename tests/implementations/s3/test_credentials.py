"""Tests of credentials: sources, precedence, and renewal."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from fscontract.contract.api.errors import AccessControlException, IllegalArgumentException
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.credentials import Credentials, Keys
from fscontract.implementations.s3.errors import NoCredentialsException
from fscontract.implementations.s3.filesystem import S3FileSystem
from fscontract.implementations.s3.transports import clients
from tests.limits import DEADLOCK

GIVEN = Credentials("keys", None, "someone", "hush", "token")
PROFILES = """[default]
aws_access_key_id = of-default
aws_secret_access_key = secret-of-default
[other]
aws_access_key_id = of-other
aws_secret_access_key = secret-of-other
"""


@pytest.fixture
def profiles(tmp_path: Path) -> None:
    """Two profiles in the AWS configuration files."""
    (tmp_path / "credentials").write_text(PROFILES, encoding="utf-8")


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys in the environment."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "of-environment")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-environment")


def access_key(credentials: Credentials) -> str:
    """Return the access key that signs requests."""
    keys = credentials.frozen("data")
    assert keys is not None
    return keys.access_key


class TestFinding:
    def test_given_keys_override_the_environment(self, variables: None) -> None:
        assert GIVEN.frozen("data") == Keys("someone", "hush", "token")

    def test_anonymous_credentials_are_none(self, variables: None) -> None:
        assert Credentials("anonymous").frozen("data") is None

    def test_chain_starts_with_the_environment(self, variables: None, profiles: None) -> None:
        assert access_key(Credentials()) == "of-environment"

    def test_environment_keys_need_no_botocore(self, variables: None) -> None:
        code = (
            "import sys\n"
            "from fscontract.implementations.s3.credentials import Credentials\n"
            "print(Credentials().frozen('data').access_key, 'botocore' in sys.modules)"
        )
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
        )
        assert run.stdout.split() == ["of-environment", "False"]

    def test_chain_continues_with_the_aws_files(self, profiles: None) -> None:
        assert access_key(Credentials()) == "of-default"

    def test_profile_overrides_the_environment(self, variables: None, profiles: None) -> None:
        assert access_key(Credentials("profile", "other")) == "of-other"

    def test_chain_honours_aws_profile(
        self, profiles: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("AWS_PROFILE", "other")
        assert access_key(Credentials()) == "of-other"

    @pytest.mark.parametrize(
        "credentials",
        [Credentials(), Credentials("profile", "nobody"), Credentials("withheld")],
        ids=repr,
    )
    def test_missing_credentials_error_is_one_line_with_advice(
        self, credentials: Credentials
    ) -> None:
        with pytest.raises(NoCredentialsException) as caught:
            credentials.frozen("data")
        message = str(caught.value)
        assert isinstance(caught.value, AccessControlException)
        assert "bucket 'data'" in message
        assert "AWS_ACCESS_KEY_ID" in message
        assert "\n" not in message

    def test_withheld_credentials_use_the_chain_of_this_process(self, variables: None) -> None:
        shipped: Credentials = pickle.loads(pickle.dumps(GIVEN))
        assert shipped.kind == "withheld"
        assert access_key(shipped) == "of-environment"

    @pytest.mark.parametrize(
        "arguments",
        [
            ("odd",),
            ("keys",),
            ("keys", None, "a"),
            ("chain", None, "a", "b"),
            ("profile",),
            ("chain", "name"),
        ],
    )
    def test_contradictory_arguments_are_rejected(self, arguments: Any) -> None:
        with pytest.raises(IllegalArgumentException):
            Credentials(*arguments)

    def test_credentials_are_immutable(self) -> None:
        with pytest.raises(AttributeError):
            GIVEN.kind = "anonymous"
        with pytest.raises(AttributeError):
            del GIVEN.profile


class TestFirstUse:
    @pytest.mark.parametrize("transport", ["obstore", "boto3"])
    def test_withheld_keys_raise_on_first_use(
        self, options: dict[str, Any], transport: str
    ) -> None:
        fs = S3FileSystem("data", **options, transport=transport)
        shipped: S3FileSystem = pickle.loads(pickle.dumps(fs))
        for call in (shipped.get_file_status, lambda path: shipped.open(path).read_byte()):
            with pytest.raises(NoCredentialsException, match="not passed to other processes"):
                call("/a")

    @pytest.mark.parametrize("transport", ["obstore", "boto3"])
    def test_withheld_keys_are_replaced_by_keys_of_the_process(
        self, bucket: str, options: dict[str, Any], transport: str, variables: None
    ) -> None:
        fs = S3FileSystem(bucket, **options, transport=transport)
        shipped: S3FileSystem = pickle.loads(pickle.dumps(fs))
        shipped.create("/a").close()
        assert shipped.get_file_status("/a").length == 0


class TestRenewing:
    def test_obstore_renews_expiring_keys(
        self, bucket: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[str] = []

        def source(self: Credentials, bucket: str, region: str | None = None) -> Any:
            def current() -> Keys:
                asked.append(bucket)
                soon = datetime.now(timezone.utc) + timedelta(seconds=1)
                return Keys("a", "b", None, soon)

            return current

        monkeypatch.setattr(Credentials, "source", source)
        fs = S3FileSystem(bucket, **options, transport="obstore")
        fs.create("/a").close()
        before, deadline = len(asked), monotonic() + DEADLOCK
        # obstore checks every 100 ms at most
        while len(asked) == before and monotonic() < deadline:
            fs.get_file_status("/a")
        assert len(asked) > before

    def test_chain_reports_the_expiry_of_keys(self, tmp_path: Path) -> None:
        """The chain renews such keys; here a command provides them."""
        end = datetime.now(timezone.utc).replace(microsecond=0) + timedelta(hours=1)
        told = {"Version": 1, "AccessKeyId": "a", "SecretAccessKey": "b", "SessionToken": "c"}
        (tmp_path / "told").write_text(
            json.dumps({**told, "Expiration": end.isoformat()}), encoding="utf-8"
        )
        program = f"{sys.executable} -c \"print(open('{tmp_path / 'told'}').read())\""
        (tmp_path / "config").write_text(
            f"[default]\ncredential_process = {program}\n", encoding="utf-8"
        )
        assert Credentials().frozen("data") == Keys("a", "b", "c", end)

    def test_keys_without_expiry_are_requested_once(
        self, bucket: str, options: dict[str, Any]
    ) -> None:
        config = S3Config.of(bucket, {**options, "transport": "obstore"})
        provide = clients._provider(config.credentials.source(bucket))
        assert provide()["expires_at"] is None


class TestRegion:
    @pytest.mark.parametrize(
        ("given", "region"), [({"region": "eu-west-3"}, "eu-west-3"), ({}, "us-east-1")]
    )
    def test_default_region_is_us_east_1(self, given: dict[str, str], region: str) -> None:
        config = S3Config.of("data", {**given, "anonymous": True}, {})
        assert clients.boto3_client(config).meta.region_name == region
        assert clients.obstore_store(config).config["region"] == region

    def test_region_of_the_aws_files_is_used(self, tmp_path: Path) -> None:
        (tmp_path / "config").write_text("[default]\nregion = eu-north-1\n", encoding="utf-8")
        config = S3Config.of("data", {"anonymous": True}, {})
        assert clients.boto3_client(config).meta.region_name == "eu-north-1"
        assert clients.obstore_store(config).config["region"] == "eu-north-1"


class TestAddressing:
    @pytest.mark.parametrize(
        ("given", "bucket_in"),
        [
            ({"region": "eu-west-1"}, "https://data.s3.eu-west-1.amazonaws.com"),
            (
                {"region": "eu-west-1", "path_style": True},
                "https://s3.eu-west-1.amazonaws.com",
            ),
            ({"region": "cn-north-1"}, "https://data.s3.cn-north-1.amazonaws.com.cn"),
            ({"endpoint": "http://here:9"}, "http://here:9"),
            ({"endpoint": "http://here:9", "path_style": False}, "http://data.here:9"),
        ],
    )
    def test_obstore_and_boto3_use_the_same_url(
        self, given: dict[str, Any], bucket_in: str
    ) -> None:
        config = S3Config.of("data", {**given, "anonymous": True}, {})
        assert clients.obstore_store(config).config["endpoint"] == bucket_in
        url = clients.boto3_client(config).generate_presigned_url(
            "get_object", Params={"Bucket": "data", "Key": "key"}
        )
        assert url in (f"{bucket_in}/key", f"{bucket_in}/data/key")
        assert ("/data/key" in url) is config.in_path

    def test_variables_of_obstore_are_ignored(
        self, bucket: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for variable in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"):
            monkeypatch.setenv(variable, "http://127.0.0.1:9")
        monkeypatch.setenv("AWS_SKIP_SIGNATURE", "true")
        monkeypatch.setenv("AWS_VIRTUAL_HOSTED_STYLE_REQUEST", "true")
        fs = S3FileSystem(bucket, **options, transport="obstore", retries=0)
        fs.create("/a").close()
        assert fs.get_file_status("/a").length == 0
