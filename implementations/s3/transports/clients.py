"""Clients of obstore and boto3 for a configuration, created on use and never pickled.

They send each request once; `range_download.py` and `object_store.py` do all retries.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.credentials import Keys, chain_of, session_for

if TYPE_CHECKING:
    from obstore.store import S3Store

DEFAULT_REGION = "us-east-1"

#: No total time limit: `timeout` limits the time without a byte.
_NO_LIMIT = timedelta(days=365)


def boto3_client(config: S3Config) -> Any:
    """Return a thread-safe botocore client; raise NoCredentialsException."""
    import botocore
    from botocore.config import Config

    from fscontract.implementations.s3.transports.heads import checked

    credentials = config.credentials
    session = session_for(credentials, config.bucket)
    keys: dict[str, str | None] = {}
    if credentials.kind == "keys":
        keys = {
            "aws_access_key_id": credentials.access_key,
            "aws_secret_access_key": credentials.secret_key,
            "aws_session_token": credentials.session_token,
        }
    elif credentials.kind != "anonymous":
        chain_of(session, credentials, config.bucket)
    settings: dict[str, Any] = {
        "connect_timeout": config.connect_timeout,
        "read_timeout": config.timeout,
        "max_pool_connections": config.connections,
        "retries": {"total_max_attempts": 1, "mode": "standard"},
        "s3": {"addressing_style": "path" if config.in_path else "virtual"},
        "request_checksum_calculation": "when_required",
        "response_checksum_validation": "when_required",
        "tcp_keepalive": True,
    }
    if credentials.kind == "anonymous":
        settings["signature_version"] = botocore.UNSIGNED
    client = session.create_client(
        "s3",
        region_name=config.region or session.get_config_variable("region") or DEFAULT_REGION,
        endpoint_url=config.endpoint or None,
        config=Config(**settings),
        **keys,
    )
    return checked(client)


def obstore_store(config: S3Config) -> S3Store:
    """Return an obstore store that ignores the environment; raise NoCredentialsException."""
    from obstore.store import S3Store

    region = config.region or _region_of_files(config) or DEFAULT_REGION
    endpoint = _endpoint(config, region)
    signing: dict[str, Any] = {"skip_signature": True}
    if config.credentials.kind != "anonymous":
        current = config.credentials.source(config.bucket, region)
        signing = {"skip_signature": False, "credential_provider": _provider(current)}
    return S3Store(
        config.bucket,
        region=region,
        endpoint=endpoint,
        aws_endpoint_url_s3=endpoint,  # otherwise the endpoint of the environment takes precedence
        virtual_hosted_style_request=not config.in_path,
        client_options={
            "allow_http": endpoint.startswith("http:"),
            "connect_timeout": timedelta(seconds=config.connect_timeout),
            "read_timeout": timedelta(seconds=config.timeout),
            "timeout": _NO_LIMIT,
            "pool_max_idle_per_host": str(config.connections),
        },
        retry_config={"max_retries": 0},
        **signing,
    )


def _provider(current: Callable[[], Keys | None]) -> Callable[[], dict[str, Any]]:
    """Return obstore's credential provider, which obstore calls again before the keys expire."""
    current()  # raises here, because obstore would hide the cause

    def provide() -> dict[str, Any]:
        keys = current()
        assert keys is not None
        return {
            "access_key_id": keys.access_key,
            "secret_access_key": keys.secret_key,
            "token": keys.session_token,
            "expires_at": keys.expires,
        }

    return provide


def _endpoint(config: S3Config, region: str) -> str:
    """Return the URL for requests, with the bucket in its host if the configuration says so."""
    suffix = ".cn" if region.startswith("cn-") else ""
    url = config.endpoint or f"https://s3.{region}.amazonaws.com{suffix}"
    if config.in_path:
        return url
    scheme, rest = url.split("://", 1)
    return f"{scheme}://{config.bucket}.{rest}"


def _region_of_files(config: S3Config) -> str | None:
    """Return the region of the AWS configuration files; load botocore only if files exist."""
    file = os.environ.get("AWS_CONFIG_FILE") or "~/.aws/config"
    if not Path(file).expanduser().is_file():
        return None
    try:
        session = session_for(config.credentials, config.bucket)
    except ModuleNotFoundError:
        return None
    region: str | None = session.get_config_variable("region")
    return region
