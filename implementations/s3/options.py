"""Table of S3 options, and the parsers of their values."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar
from urllib.parse import urlsplit

from fscontract.contract.api.openfile_options import option_table
from fscontract.implementations import options
from fscontract.implementations.options import GIB, KIB, MIB, Kind, Option

#: Prefix of Hadoop keys; keys of one bucket have `bucket.NAME.` after it.
S3A = "fs.s3a."
#: Prefix of fscontract's environment variables.
VARIABLE = "FSCONTRACT_S3_"
_NAME = re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII)
_HOST = re.compile(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]", re.ASCII)
_GRAPHIC = re.compile(r"[!-~]+", re.ASCII)


def _text(option: Option, text: str) -> str:
    return text.strip()


def secret(option: Option, text: str) -> str:
    """Parse a value that is never shown."""
    return text.strip()


def _choices(option: Option, text: str) -> tuple[str, ...]:
    """Parse comma-separated choices; for a class name, only the last part counts."""
    names = (name.strip().rsplit(".", 1)[-1] for name in text.split(","))
    return tuple(options.choice(option, name) for name in names if name)


def policy(option: Option, text: str) -> str:
    """Parse a list of read policies; return the first known one."""
    assert isinstance(option, S3Option)
    known = {name: name for name in option_table().policies} | dict(option.translated)
    for name in text.lower().split(","):
        if name.strip() in known:
            return known[name.strip()]
    raise ValueError(f"expected one of {', '.join(known)}")


def _name(option: Option, text: str) -> str:
    """Parse a name, such as that of a region."""
    name = text.strip()
    if not _NAME.fullmatch(name):
        raise ValueError("expected letters, digits and hyphens")
    return name


def _url(option: Option, text: str) -> str:
    """Parse an http or https URL, or a host without a scheme. Messages never contain it."""
    url = text.strip()
    problem = endpoint_problem(url if "://" in url else f"https://{url}")
    if problem:
        raise ValueError(problem)
    return url.rstrip("/")


@dataclass(frozen=True)
class S3Option(Option):
    """S3 option, with its Hadoop keys and environment variables."""

    #: Hadoop keys without `fs.s3a.`, in order of precedence.
    s3a: tuple[str, ...] = ()
    #: Hadoop values and their names here, if different.
    translated: tuple[tuple[str, str], ...] = ()
    #: Variables in order of precedence; the default is FSCONTRACT_S3_ and the name.
    variables: tuple[str, ...] | None = None

    label: ClassVar[str] = "S3 option"
    hidden: ClassVar[tuple[Kind, ...]] = (secret, _url)

    @property
    def environment(self) -> tuple[str, ...]:
        """Environment variables of the option."""
        if self.variables is None:
            return (VARIABLE + self.name.upper(),)
        return self.variables

    def parse(self, value: Any, origin: str = "") -> Any:
        """Parse a value. In a Hadoop key, values are Hadoop's, and times are in milliseconds."""
        if not origin.startswith(S3A):
            return super().parse(value, origin)
        names = dict(self.translated)
        option = replace(self, choices=tuple(names) or self.choices, unit="ms")
        parsed = super(S3Option, option).parse(value, origin)
        if isinstance(parsed, tuple):
            return tuple(names.get(name, name) for name in parsed)
        return names.get(parsed, parsed) if isinstance(parsed, str) else parsed


@dataclass(frozen=True)
class Setting:
    """Value of an option, and its source. The value is never shown."""

    option: S3Option
    value: Any = field(repr=False)
    origin: str

    def parse(self) -> Any:
        """Return the parsed value; raise IllegalArgumentException if it is invalid."""
        return self.option.parse(self.value, self.origin)


#: Anonymous credential providers of Hadoop and both AWS SDKs.
_PROVIDERS = (
    ("AnonymousAWSCredentialsProvider", "anonymous"),
    ("AnonymousCredentialsProvider", "anonymous"),
    ("AnonymousAWSCredentials", "anonymous"),
    ("SimpleAWSCredentialsProvider", "keys"),
    ("TemporaryAWSCredentialsProvider", "keys"),
    ("EnvironmentVariableCredentialsProvider", "chain"),
    ("IAMInstanceCredentialsProvider", "chain"),
    ("InstanceProfileCredentialsProvider", "chain"),
    ("ContainerCredentialsProvider", "chain"),
    ("ProfileCredentialsProvider", "chain"),
    ("DefaultCredentialsProvider", "chain"),
    ("DefaultAWSCredentialsProviderChain", "chain"),
    ("WebIdentityTokenFileCredentialsProvider", "chain"),
)

OPTIONS = (
    S3Option(
        "endpoint",
        _url,
        "URL of the store, if not AWS. Must not contain a user or password.",
        s3a=("endpoint",),
        variables=("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
    ),
    S3Option(
        "ssl",
        options.switch,
        "Use https for an endpoint without a scheme.",
        True,
        s3a=("connection.ssl.enabled",),
    ),
    S3Option(
        "region",
        _name,
        "Region of the bucket. Default: the region of the AWS configuration files, or us-east-1.",
        s3a=("endpoint.region",),
        variables=("AWS_REGION", "AWS_DEFAULT_REGION"),
    ),
    S3Option(
        "path_style",
        options.switch,
        "Put the bucket in the URL's path instead of its host. Default: yes with an endpoint, or "
        "for a bucket name with a dot.",
        s3a=("path.style.access",),
    ),
    S3Option("anonymous", options.switch, "Send unsigned requests."),
    S3Option(
        "provider",
        _choices,
        "Comma-separated sources of credentials, in order: these options (keys), the AWS "
        "environment, files and roles (chain), or none (anonymous).",
        choices=("chain", "keys", "anonymous"),
        s3a=("aws.credentials.provider",),
        translated=_PROVIDERS,
    ),
    S3Option(
        "profile",
        _text,
        "Profile of the AWS configuration files for credentials and region. If unset, "
        "AWS_PROFILE applies.",
    ),
    S3Option(
        "access_key",
        secret,
        "Access key; not passed to other processes. If this, secret_key and session_token are "
        "unset, the AWS environment variables apply.",
        s3a=("access.key",),
        variables=(),
    ),
    S3Option(
        "secret_key",
        secret,
        "Secret key; not passed to other processes.",
        s3a=("secret.key",),
        variables=(),
    ),
    S3Option(
        "session_token",
        secret,
        "Session token of temporary keys; not passed to other processes.",
        s3a=("session.token",),
        variables=(),
    ),
    S3Option(
        "transport",
        options.choice,
        "Library that sends requests. auto selects obstore, or boto3 in a process forked from "
        "one that has loaded obstore.",
        "auto",
        choices=("auto", "obstore", "boto3"),
    ),
    S3Option(
        "retries",
        options.count,
        "Maximum retries of one call after transient failures.",
        5,
        0,
        100,
        s3a=("retry.limit", "attempts.maximum"),
    ),
    S3Option(
        "connect_timeout",
        options.duration,
        "Connection timeout.",
        5.0,
        0.001,
        3600,
        s3a=("connection.establish.timeout",),
    ),
    S3Option(
        "timeout",
        options.duration,
        "Maximum time without a byte of the response.",
        30.0,
        0.001,
        3600,
        s3a=("connection.timeout",),
    ),
    S3Option(
        "connections",
        options.count,
        "Maximum number of concurrent fetch threads, and of idle connections.",
        32,
        1,
        1000,
        s3a=("connection.maximum",),
    ),
    S3Option(
        "on_change",
        options.choice,
        "Action when the object of a stream is replaced: fail, or follow the new version.",
        "fail",
        choices=("fail", "follow"),
        s3a=("change.detection.mode",),
        translated=(
            ("server", "fail"),
            ("client", "fail"),
            ("warn", "follow"),
            ("none", "follow"),
        ),
    ),
    S3Option(
        "read_policy",
        policy,
        "Default read policy of streams.",
        s3a=("experimental.input.fadvise",),
        translated=(("normal", "adaptive"),),
    ),
    S3Option(
        "readahead",
        options.size,
        "Maximum forward seek that reuses the current request.",
        64 * KIB,
        0,
        GIB,
        s3a=("readahead.range",),
    ),
    S3Option(
        "prefetch",
        options.size,
        "Maximum bytes that a sequential read fetches ahead in parallel requests of 8 MiB, if the "
        "store takes 10 ms to respond. Below 8 MiB there are no parallel requests.",
        0,
        0,
        GIB,
    ),
    S3Option(
        "min_seek",
        options.size,
        "Merge ranges of a vectored read into one request if the gap is smaller than this.",
        128 * KIB,
        0,
        GIB,
        s3a=("vectored.read.min.seek.size",),
    ),
    S3Option(
        "max_read",
        options.size,
        "Maximum size of a merged request; 0 disables merging.",
        8 * MIB,
        0,
        GIB,
        s3a=("vectored.read.max.merged.size",),
    ),
    S3Option(
        "part_size",
        options.size,
        "Part size of a multipart upload; also the buffer size.",
        8 * MIB,
        5 * MIB,
        5 * GIB,
        s3a=("multipart.size",),
    ),
)
BY_NAME = {option.name: option for option in OPTIONS}
#: Every known Hadoop key, without `fs.s3a.`.
S3A_KEYS = {key: option for option in OPTIONS for key in option.s3a}


def endpoint_problem(url: str) -> str:
    """Return the problem with a URL, or "". The text contains no part of the URL."""
    if "@" in url:
        return "credentials must not be in the URL; use the credential options"
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return "invalid host or port"
    if parts.scheme not in ("http", "https"):
        return "expected an http or https URL"
    host = parts.netloc.rsplit(":", 1)[0] if not parts.netloc.endswith("]") else parts.netloc
    if not _HOST.fullmatch(host):
        return "invalid host or port"
    if parts.query or parts.fragment or not _GRAPHIC.fullmatch(url):
        return "expected a URL with a host, and optionally a port and a path"
    return ""
