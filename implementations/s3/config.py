"""S3 configuration of a bucket: location, credentials, and read options."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.spec.clauses import near_misses
from fscontract.implementations.options import KIB, MIB, unknown_option
from fscontract.implementations.s3.credentials import Credentials
from fscontract.implementations.s3.options import (
    BY_NAME,
    OPTIONS,
    S3A,
    S3A_KEYS,
    VARIABLE,
    S3Option,
    Setting,
    endpoint_problem,
)

#: Includes legacy bucket names, which AWS no longer accepts for new buckets.
_BUCKET = re.compile(r"(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]", re.ASCII)
#: Options that together determine the credentials.
_SIGNING = ("anonymous", "profile", "access_key", "secret_key", "session_token", "provider")


@dataclass(frozen=True)
class S3Config:
    """Configuration of one bucket. Sizes are in bytes, times in seconds.

    A pickle omits keys given as arguments; see Credentials.
    """

    bucket: str
    #: URL of the store; None for AWS.
    endpoint: str | None = None
    region: str | None = None
    #: Put the bucket in the URL's path instead of its host; None: see `in_path`.
    path_style: bool | None = None
    credentials: Credentials = field(default_factory=Credentials)
    #: "obstore", "boto3", or "auto" to choose the one that fits the process.
    transport: str = "auto"
    #: Maximum retries of one read call.
    retries: int = 5
    connect_timeout: float = 5.0
    #: Maximum time without a byte of the response.
    timeout: float = 30.0
    #: Maximum number of concurrent fetch threads, and of idle connections.
    connections: int = 32
    #: Action when the object is replaced: "fail", or "follow" the new version.
    on_change: str = "fail"
    #: Default read policy of a stream.
    read_policy: str | None = None
    #: Maximum forward seek that reuses the current request.
    readahead: int = 64 * KIB
    #: Bytes that sequential reads fetch ahead from a slow store, in parallel requests.
    prefetch: int = 0
    #: Merge vectored ranges with a smaller gap into one request ...
    min_seek: int = 128 * KIB
    #: ... of at most this size.
    max_read: int = 8 * MIB
    #: Part size of a multipart upload.
    part_size: int = 8 * MIB

    def __post_init__(self) -> None:
        check_bucket(self.bucket)
        problem = endpoint_problem(self.endpoint) if self.endpoint is not None else ""
        if problem:
            raise IllegalArgumentException(f"invalid S3 endpoint: {problem}")

    @classmethod
    def of(
        cls,
        bucket: str,
        options: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> S3Config:
        """Return the configuration from `options` and the environment. OPTIONS lists all options.

        An option may have its own name, a Hadoop key (`fs.s3a.bucket.BUCKET.x` overrides
        `fs.s3a.x`), or an environment variable; they take precedence in this order. None and ""
        mean unset. Raise IllegalArgumentException for unknown names and invalid values.
        """
        check_bucket(bucket)
        given = _given(bucket, options or {}, environment)
        values = {name: value.parse() for name, value in given.items()}
        secure = values.pop("ssl", True)
        endpoint = values.get("endpoint")
        if endpoint is not None and "://" not in endpoint:
            values["endpoint"] = f"{'https' if secure else 'http'}://{endpoint}"
        credentials = _credentials(given)
        names = {f.name for f in fields(cls)}
        return cls(
            bucket, credentials=credentials, **{n: v for n, v in values.items() if n in names}
        )

    @property
    def in_path(self) -> bool:
        """True if the bucket is in the path of URLs."""
        if self.path_style is not None:
            return self.path_style
        # certificates don't cover bucket names with dots
        return self.endpoint is not None or "." in self.bucket


def of_hadoop(configuration: Mapping[str, str], bucket: str) -> dict[str, str]:
    """Return the entries of a Hadoop configuration that are S3 options for `bucket`."""
    return {key: text for key, text in configuration.items() if _hadoop(key, bucket) is not None}


def check_bucket(name: str) -> None:
    """Raise IllegalArgumentException if `name` is not a valid bucket name."""
    if not isinstance(name, str) or not _BUCKET.fullmatch(name):
        raise IllegalArgumentException(
            f"invalid bucket name: {name!r:.80}; expected 3 to 255 letters, digits, '-', '_' and "
            "single '.', starting and ending with a letter or digit"
        )


def _hadoop(key: str, bucket: str) -> tuple[S3Option, bool] | None:
    """Return the option of a Hadoop key and True if the key is specific to `bucket`.

    Return None for an unknown key.
    """
    own = f"{S3A}bucket.{bucket}."
    name = key.removeprefix(own if key.startswith(own) else S3A)
    option = S3A_KEYS.get(name) if key.startswith(S3A) else None
    return None if option is None else (option, key.startswith(own))


def _given(
    bucket: str, options: Mapping[str, Any], environment: Mapping[str, str]
) -> dict[str, Setting]:
    """Return the value of each option that is set, from the source with the highest precedence."""
    _check_names(bucket, options, environment)
    given: dict[str, Setting] = {}
    signed = False
    for level in (_own(options), _of_hadoop(bucket, options), _of_environment(environment)):
        signs = signed
        for value in level:
            name = value.option.name
            if name in _SIGNING and signs:  # credentials come from a single source
                continue
            signed |= name in _SIGNING
            given.setdefault(name, value)
    return given


def _own(options: Mapping[str, Any]) -> list[Setting]:
    return [
        Setting(BY_NAME[name], value, "an argument")
        for name, value in options.items()
        if name in BY_NAME and _set(value)
    ]


def _of_hadoop(bucket: str, options: Mapping[str, Any]) -> list[Setting]:
    """Return the values of Hadoop keys, highest precedence first."""
    ranked = []
    for key, value in options.items():
        known = _hadoop(key, bucket) if _set(value) else None
        if known is not None:
            option, own = known
            rank = (not own, [key.endswith(f".{name}") for name in option.s3a].index(True))
            ranked.append((rank, Setting(option, value, key)))
    return [value for _, value in sorted(ranked, key=lambda pair: pair[0])]


def _of_environment(environment: Mapping[str, str]) -> list[Setting]:
    return [
        Setting(option, environment[variable], variable)
        for option in OPTIONS
        for variable in option.environment
        if _set(environment.get(variable))
    ]


def _set(value: Any) -> bool:
    return value is not None and str(value).strip() != ""


def _check_names(bucket: str, options: Mapping[str, Any], environment: Mapping[str, str]) -> None:
    """Raise IllegalArgumentException for an unknown option or variable."""
    known = [*BY_NAME, *(S3A + name for name in S3A_KEYS)]
    for name in options:
        other = str(name).startswith(f"{S3A}bucket.") and _hadoop(name, bucket) is None
        if name not in BY_NAME and _hadoop(str(name), bucket) is None:
            # the key of another bucket, or an unknown key
            if other and not str(name).startswith(f"{S3A}bucket.{bucket}."):
                continue
            raise unknown_option(str(name), known, BY_NAME, S3Option.label)
    variables = {variable for option in OPTIONS for variable in option.environment}
    for variable in environment:
        if variable.startswith(VARIABLE) and variable not in variables:
            hint = near_misses(variable, variables)
            raise IllegalArgumentException(
                f"unknown environment variable for S3: {variable!r:.80}{hint}"
            )


def _credentials(given: Mapping[str, Setting]) -> Credentials:
    values = {name: given[name].parse() for name in _SIGNING if name in given}
    access, secret = values.get("access_key"), values.get("secret_key")
    if bool(access) != bool(secret) or ("session_token" in values and not access):
        raise IllegalArgumentException(
            "S3 options 'access_key' and 'secret_key' must be set together; 'session_token' "
            "requires both"
        )
    ways = [
        name
        for name, chosen in (
            ("anonymous", values.get("anonymous")),
            ("profile", values.get("profile")),
            ("access_key", access),
        )
        if chosen
    ]
    if len(ways) > 1:
        raise IllegalArgumentException(
            f"S3 options {' and '.join(map(repr, ways))} are mutually exclusive"
        )
    for way in values.get("provider", ()):
        if way == "anonymous":
            return Credentials("anonymous")
        if way == "chain" and not ways:
            return Credentials()
        if way == "keys" and access:
            break
    if values.get("anonymous"):
        return Credentials("anonymous")
    if values.get("profile"):
        return Credentials("profile", profile=values["profile"])
    if access:
        return Credentials("keys", None, access, secret, values.get("session_token"))
    return Credentials()
