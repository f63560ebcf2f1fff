"""Tests of S3Config: arguments, Hadoop keys, and environment variables."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.implementations.options import MIB
from fscontract.implementations.s3.config import S3Config, of_hadoop
from fscontract.implementations.s3.options import BY_NAME, OPTIONS, S3A_KEYS

KEYS = {"access_key": "someone", "secret_key": "hush"}


def made(options: dict[str, Any] | None = None, **environment: str) -> S3Config:
    """Return the configuration of bucket `data` with only the given options and environment."""
    return S3Config.of("data", options or {}, environment)


def refused(options: dict[str, Any] | None = None, **environment: str) -> str:
    """Return the error message for invalid options, which must be one line."""
    with pytest.raises(IllegalArgumentException) as caught:
        made(options, **environment)
    assert "\n" not in str(caught.value)
    return str(caught.value)


class TestSources:
    def test_default_is_aws_with_the_credential_chain(self) -> None:
        config = made()
        assert (config.bucket, config.endpoint, config.credentials.kind) == ("data", None, "chain")
        assert config == S3Config("data")

    def test_defaults_match_the_option_table(self) -> None:
        config = S3Config("data")
        for field in dataclasses.fields(config):
            if field.name in BY_NAME:
                assert getattr(config, field.name) == BY_NAME[field.name].default

    def test_arguments_override_hadoop_keys_which_override_the_environment(self) -> None:
        environment = {"FSCONTRACT_S3_RETRIES": "1"}
        assert made({}, **environment).retries == 1
        assert made({"fs.s3a.retry.limit": "2"}, **environment).retries == 2
        both: dict[str, Any] = {"fs.s3a.retry.limit": "2", "retries": 3}
        assert made(both, **environment).retries == 3

    def test_bucket_specific_key_overrides_general_key(self) -> None:
        options = {"fs.s3a.bucket.data.readahead.range": "1K", "fs.s3a.readahead.range": "2K"}
        assert made(options).readahead == made(dict(reversed(options.items()))).readahead == 1024

    def test_key_for_another_bucket_is_ignored(self) -> None:
        assert made({"fs.s3a.bucket.other.endpoint": "http://other"}).endpoint is None

    def test_bucket_specific_key_with_dots_in_the_name(self) -> None:
        options = {"fs.s3a.bucket.a.b.c.endpoint": "http://here"}
        assert S3Config.of("a.b.c", options, {}).endpoint == "http://here"

    def test_first_of_two_hadoop_keys_wins(self) -> None:
        assert made({"fs.s3a.attempts.maximum": "4", "fs.s3a.retry.limit": "2"}).retries == 2
        assert made({"fs.s3a.attempts.maximum": "4"}).retries == 4

    def test_s3_endpoint_variable_overrides_aws_endpoint_variable(self) -> None:
        both = {"AWS_ENDPOINT_URL": "http://all", "AWS_ENDPOINT_URL_S3": "http://s3"}
        assert made({}, **both).endpoint == "http://s3"
        assert made({}, AWS_ENDPOINT_URL="http://all").endpoint == "http://all"

    def test_region_from_the_environment(self) -> None:
        both = {"AWS_DEFAULT_REGION": "eu-west-1", "AWS_REGION": "eu-west-2"}
        assert made({}, **both).region == "eu-west-2"

    @pytest.mark.parametrize("nothing", [None, "", "  "])
    def test_empty_values_count_as_unset(self, nothing: str | None) -> None:
        assert made({"retries": nothing, "fs.s3a.retry.limit": 2}).retries == 2
        assert made({"fs.s3a.endpoint": nothing}, AWS_ENDPOINT_URL="http://all").endpoint

    @pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
    def test_every_option_has_a_description_and_a_source(self, option: Any) -> None:
        assert option.meaning.endswith(".")
        assert option.environment or option.s3a

    def test_of_hadoop_selects_known_keys(self) -> None:
        configuration = {
            "fs.defaultFS": "hdfs://x",
            "fs.s3a.endpoint": "http://here",
            "fs.s3a.block.size": "32M",
            "fs.s3a.bucket.data.retry.limit": "3",
            "fs.s3a.bucket.other.retry.limit": "4",
        }
        assert of_hadoop(configuration, "data") == {
            "fs.s3a.endpoint": "http://here",
            "fs.s3a.bucket.data.retry.limit": "3",
        }


class TestValues:
    @pytest.mark.parametrize(
        ("value", "bytes_"),
        [(0, 0), ("0", 0), ("64K", 65536), ("1m", MIB), ("2 MiB", 2 * MIB), ("1GB", 1 << 30)],
    )
    def test_sizes_accept_units(self, value: Any, bytes_: int) -> None:
        assert made({"readahead": value}).readahead == bytes_

    @pytest.mark.parametrize(
        ("value", "seconds"),
        [
            (2, 2.0),
            ("2", 2.0),
            (0.5, 0.5),
            ("500ms", 0.5),
            ("3s", 3.0),
            ("2m", 120.0),
            ("1h", 3600),
        ],
    )
    def test_durations_default_to_seconds(self, value: Any, seconds: float) -> None:
        assert made({"timeout": value}).timeout == pytest.approx(seconds)

    def test_hadoop_durations_default_to_milliseconds(self) -> None:
        key = "fs.s3a.connection.timeout"
        assert (made({key: "200"}).timeout, made({key: "2s"}).timeout) == (0.2, 2.0)

    @pytest.mark.parametrize(("mode", "means"), [("server", "fail"), ("none", "follow")])
    def test_hadoop_change_detection_modes_are_translated(self, mode: str, means: str) -> None:
        assert made({"fs.s3a.change.detection.mode": mode}).on_change == means

    @pytest.mark.parametrize(
        ("advice", "policy"),
        [("normal", "adaptive"), ("random", "random"), ("odd, Sequential", "sequential")],
    )
    def test_hadoop_fadvise_selects_a_read_policy(self, advice: str, policy: str) -> None:
        assert made({"fs.s3a.experimental.input.fadvise": advice}).read_policy == policy

    @pytest.mark.parametrize(("ssl", "url"), [("true", "https://h:9"), ("false", "http://h:9")])
    def test_endpoint_without_scheme_gets_one(self, ssl: str, url: str) -> None:
        key = "fs.s3a.connection.ssl.enabled"
        assert made({"fs.s3a.endpoint": "h:9", key: ssl}).endpoint == url
        assert made({"endpoint": "http://h/", key: ssl}).endpoint == "http://h"

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("retries", "many"),
            ("retries", -1),
            ("retries", True),
            ("retries", "1.5"),
            ("timeout", 0),
            ("timeout", "nan"),
            ("timeout", "5 parsecs"),
            ("timeout", 1e9),
            ("part_size", "1M"),
            ("part_size", "6G"),
            ("readahead", -1),
            ("readahead", "9" * 400),
            ("connections", 0),
            ("path_style", "maybe"),
            ("transport", "carrier pigeon"),
            ("on_change", "server"),
            ("read_policy", "backwards"),
            ("region", "eu/west"),
        ],
    )
    def test_invalid_value_error_names_option_and_allowed_values(
        self, name: str, value: Any
    ) -> None:
        message = refused({name: value})
        assert f"'{name}', from an argument, can't be {value!r:.80}: " in message
        assert "expected" in message

    def test_invalid_value_error_names_the_source(self) -> None:
        assert "from fs.s3a.retry.limit" in refused({"fs.s3a.retry.limit": "x"})
        assert "from FSCONTRACT_S3_RETRIES" in refused({}, FSCONTRACT_S3_RETRIES="x")
        assert "from AWS_REGION" in refused({}, AWS_REGION="no region")

    @pytest.mark.parametrize(
        ("name", "meant"),
        [
            ("endpont", "endpoint"),
            ("fs.s3a.endpoint.regoin", "fs.s3a.endpoint.region"),
            ("fs.s3a.bucket.data.endpont", "fs.s3a.endpoint"),
        ],
    )
    def test_unknown_option_error_suggests_a_name(self, name: str, meant: str) -> None:
        message = refused({name: "x"})
        assert repr(name) in message
        assert meant in message.split("did you mean")[1]

    def test_unknown_fscontract_variable_is_rejected(self) -> None:
        assert "FSCONTRACT_S3_RETRIES" in refused({}, FSCONTRACT_S3_RETIRES="3")

    def test_unsupported_hadoop_key_is_rejected(self) -> None:
        """Ignoring it could, for example, leave data unencrypted."""
        assert "fs.s3a.encryption.algorithm" in refused({"fs.s3a.encryption.algorithm": "SSE-C"})

    @pytest.mark.parametrize(
        "url",
        [
            "http://user:sesame@host",
            "http://sesame@host",
            "user:sesame@host:9000",
            "ftp://sesame",
            "http://host:port/sesame",
            "http://host:99999/sesame",
            "http://host/?token=sesame",
            "http://host/#sesame",
            "http://ho st/sesame",
            "http:///sesame",
            "http://ses\name",
        ],
    )
    def test_invalid_endpoint_error_does_not_show_it(self, url: str) -> None:
        for message in (refused({"endpoint": url}), refused({}, AWS_ENDPOINT_URL=url)):
            assert "'endpoint'" in message
            assert "sesame" not in message
        if "://" in url:
            with pytest.raises(IllegalArgumentException) as caught:
                S3Config("data", endpoint=url)
            assert "sesame" not in str(caught.value)

    @pytest.mark.parametrize(
        "url", ["http://127.0.0.1:9000", "https://host", "http://[::1]:9000", "https://a-b.c/path"]
    )
    def test_valid_endpoint_is_accepted(self, url: str) -> None:
        assert made({"endpoint": url}).endpoint == url

    @pytest.mark.parametrize(
        "name",
        ["", "ab", "a/b", "../up", "a..b", "-ab", "ab-", "a b", "user@host", "x" * 256, "ä.b"],
    )
    def test_invalid_bucket_name_is_rejected(self, name: str) -> None:
        with pytest.raises(IllegalArgumentException, match="bucket"):
            S3Config.of(name, {}, {})
        with pytest.raises(IllegalArgumentException, match="bucket"):
            S3Config(name)


class TestPathStyle:
    def test_path_style_is_default_only_with_an_endpoint(self) -> None:
        assert made({"endpoint": "http://here"}).in_path
        assert not made().in_path

    def test_bucket_with_dots_uses_path_style(self) -> None:
        assert S3Config("a.b.c").in_path

    def test_path_style_option_overrides_the_default(self) -> None:
        assert made({"fs.s3a.path.style.access": "true"}).in_path
        assert not made({"endpoint": "http://here", "path_style": False}).in_path


class TestCredentials:
    def test_access_keys_from_hadoop_keys(self) -> None:
        options = {"fs.s3a.access.key": "a", "fs.s3a.secret.key": "b", "fs.s3a.session.token": "c"}
        found = made(options).credentials
        assert found.kind == "keys"
        assert (found.access_key, found.secret_key, found.session_token) == ("a", "b", "c")

    def test_credentials_come_from_a_single_source(self) -> None:
        """An access key from an argument is not combined with a secret key from another source."""
        options = {"fs.s3a.access.key": "a", "fs.s3a.secret.key": "b", "fs.s3a.session.token": "c"}
        found = made({**options, **KEYS}).credentials
        assert (found.access_key, found.session_token) == ("someone", None)
        assert "must be set together" in refused({**options, "access_key": "x"})

    @pytest.mark.parametrize(
        "name",
        [
            "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider",
            "software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider",
            "com.amazonaws.auth.AnonymousAWSCredentials",
        ],
    )
    def test_anonymous_provider_disables_signing(self, name: str) -> None:
        options = {"fs.s3a.aws.credentials.provider": name}
        assert made(options).credentials.kind == "anonymous"

    def test_providers_are_tried_in_order(self) -> None:
        package = "org.apache.hadoop.fs.s3a"
        keys, nobody = "SimpleAWSCredentialsProvider", "AnonymousAWSCredentialsProvider"
        options = {"fs.s3a.aws.credentials.provider": f"{package}.{keys},\n {package}.{nobody}"}
        assert made(options).credentials.kind == "anonymous"
        given = {"fs.s3a.access.key": "a", "fs.s3a.secret.key": "b"}
        assert made({**options, **given}).credentials.kind == "keys"

    def test_unknown_provider_is_rejected(self) -> None:
        options = {"fs.s3a.aws.credentials.provider": "org.example.Vault"}
        assert "AnonymousAWSCredentialsProvider" in refused(options)

    @pytest.mark.parametrize(
        ("options", "kind"), [({"anonymous": True}, "anonymous"), ({"profile": "p"}, "profile")]
    )
    def test_profile_and_anonymous_options(self, options: dict[str, Any], kind: str) -> None:
        assert made(options).credentials.kind == kind
        assert "are mutually exclusive" in refused({**options, **KEYS})

    def test_key_variables_are_left_to_the_chain(self) -> None:
        """So they are not in a pickle."""
        found = made({}, AWS_ACCESS_KEY_ID="a", AWS_SECRET_ACCESS_KEY="b").credentials
        assert (found.kind, found.secret_key) == ("chain", None)

    @pytest.mark.parametrize("name", ["access_key", "secret_key", "session_token"])
    def test_incomplete_keys_are_rejected_without_showing_them(self, name: str) -> None:
        message = refused({name: "sesame"})
        assert "must be set together" in message
        assert "sesame" not in message


class TestShipping:
    def test_pickle_omits_the_keys(self) -> None:
        config = made({**KEYS, "endpoint": "http://here", "retries": 2})
        shipped = pickle.loads(pickle.dumps(config))
        assert shipped.credentials.kind == "withheld"
        assert dataclasses.replace(shipped, credentials=config.credentials) == config

    def test_copy_within_the_process_keeps_the_keys(self) -> None:
        config = made(KEYS)
        assert copy.copy(config) == copy.deepcopy(config) == config
        assert dataclasses.replace(config, retries=0).credentials.secret_key == "hush"


def test_each_hadoop_key_belongs_to_one_option() -> None:
    """Otherwise one option would get the other's value."""
    assert len(S3A_KEYS) == sum(len(option.s3a) for option in OPTIONS)
