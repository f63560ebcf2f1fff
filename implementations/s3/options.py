"""Options of the S3 filesystem: one table, and how their values are parsed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar
from urllib.parse import urlsplit

from fscontract.contract.api.openfile_options import option_table
from fscontract.implementations import options
from fscontract.implementations.options import GIB, KIB, MIB, Kind, Option

#: What Hadoop's keys start with; those of one bucket have `bucket.NAME.` after it.
S3A = "fs.s3a."
#: What the variables start with that are ours.
VARIABLE = "FSCONTRACT_S3_"
_NAME = re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII)
_HOST = re.compile(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]", re.ASCII)
_GRAPHIC = re.compile(r"[!-~]+", re.ASCII)


def _text(option: Option, text: str) -> str:
    return text.strip()


def secret(option: Option, text: str) -> str:
    """Read text that is never shown."""
    return text.strip()


def _choices(option: Option, text: str) -> tuple[str, ...]:
    """Read choices with commas between them; of a class, the last part of its name counts."""
    names = (name.strip().rsplit(".", 1)[-1] for name in text.split(","))
    return tuple(options.choice(option, name) for name in names if name)


def policy(option: Option, text: str) -> str:
    """Read the first known read policy of a list."""
    assert isinstance(option, S3Option)
    known = {name: name for name in option_table().policies} | dict(option.translated)
    for name in text.lower().split(","):
        if name.strip() in known:
            return known[name.strip()]
    raise ValueError(f"expected one of {', '.join(known)}")


def _name(option: Option, text: str) -> str:
    """Read a name such as that of a region."""
    name = text.strip()
    if not _NAME.fullmatch(name):
        raise ValueError("expected letters, digits and hyphens")
    return name


def _url(option: Option, text: str) -> str:
    """Read a URL of http or https, or a host without a scheme; nothing of it is shown."""
    url = text.strip()
    problem = endpoint_problem(url if "://" in url else f"https://{url}")
    if problem:
        raise ValueError(problem)
    return url.rstrip("/")


@dataclass(frozen=True)
class S3Option(Option):
    """An option of a bucket, with Hadoop's keys and the environment's variables for it."""

    #: Hadoop's keys without `fs.s3a.`, the first one before the others.
    s3a: tuple[str, ...] = ()
    #: What Hadoop's values are called here, where they differ.
    translated: tuple[tuple[str, str], ...] = ()
    #: Variables, the first one before the others; the default is FSCONTRACT_S3_ and the name.
    variables: tuple[str, ...] | None = None

    label: ClassVar[str] = "S3 option"
    hidden: ClassVar[tuple[Kind, ...]] = (secret, _url)

    @property
    def environment(self) -> tuple[str, ...]:
        """The variables of the environment that set it."""
        if self.variables is None:
            return (VARIABLE + self.name.upper(),)
        return self.variables

    def parse(self, value: Any, origin: str = "") -> Any:
        """As the base has it; in a key of Hadoop's, values are Hadoop's, and times milliseconds."""
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
    """A value that somebody set an option to, and where; the value is never shown."""

    option: S3Option
    value: Any = field(repr=False)
    origin: str

    def parse(self) -> Any:
        """Return the value, of its type and within its bounds; IllegalArgumentException."""
        return self.option.parse(self.value, self.origin)


#: The anonymous provider, of Hadoop and of both SDKs.
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
        "URL of the store, if that is not AWS; no user or password in it.",
        s3a=("endpoint",),
        variables=("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
    ),
    S3Option(
        "ssl",
        options.switch,
        "Whether an endpoint without a scheme is https.",
        True,
        s3a=("connection.ssl.enabled",),
    ),
    S3Option(
        "region",
        _name,
        "Region of the bucket. The default is that of the files of AWS, else us-east-1.",
        s3a=("endpoint.region",),
        variables=("AWS_REGION", "AWS_DEFAULT_REGION"),
    ),
    S3Option(
        "path_style",
        options.switch,
        "Whether the bucket is in the path of URLs, not in the host. The default is yes with an "
        "endpoint, or a bucket with a dot in its name.",
        s3a=("path.style.access",),
    ),
    S3Option("anonymous", options.switch, "Whether to sign no request."),
    S3Option(
        "provider",
        _choices,
        "Where credentials are looked for, one after the other: among these options (keys), in the "
        "environment, files and roles of AWS (chain), or nowhere (anonymous).",
        choices=("chain", "keys", "anonymous"),
        s3a=("aws.credentials.provider",),
        translated=_PROVIDERS,
    ),
    S3Option(
        "profile",
        _text,
        "Profile of the files of AWS to take credentials and region from. Without it, what finds "
        "credentials goes by AWS_PROFILE itself.",
    ),
    S3Option(
        "access_key",
        secret,
        "Access key; not passed on to other processes. Without it, what finds credentials goes by "
        "AWS_ACCESS_KEY_ID itself; so it does with the next two.",
        s3a=("access.key",),
        variables=(),
    ),
    S3Option(
        "secret_key",
        secret,
        "Secret key; not passed on to other processes.",
        s3a=("secret.key",),
        variables=(),
    ),
    S3Option(
        "session_token",
        secret,
        "Session token of temporary keys; not passed on to other processes.",
        s3a=("session.token",),
        variables=(),
    ),
    S3Option(
        "transport",
        options.choice,
        "Library that sends requests; auto is obstore, but boto3 in a process that was forked "
        "from one that has loaded obstore.",
        "auto",
        choices=("auto", "obstore", "boto3"),
    ),
    S3Option(
        "retries",
        options.count,
        "How often one call may try again after failures that may pass.",
        5,
        0,
        100,
        s3a=("retry.limit", "attempts.maximum"),
    ),
    S3Option(
        "connect_timeout",
        options.duration,
        "How long making a connection may take.",
        5.0,
        0.001,
        3600,
        s3a=("connection.establish.timeout",),
    ),
    S3Option(
        "timeout",
        options.duration,
        "How long there may be no byte of an answer.",
        30.0,
        0.001,
        3600,
        s3a=("connection.timeout",),
    ),
    S3Option(
        "connections",
        options.count,
        "The most threads that fetch at the same time, and the most idle connections.",
        32,
        1,
        1000,
        s3a=("connection.maximum",),
    ),
    S3Option(
        "on_change",
        options.choice,
        "What a stream does when its object is replaced: fail, or follow the new one.",
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
        "Read policy of streams that are opened without one.",
        s3a=("experimental.input.fadvise",),
        translated=(("normal", "adaptive"),),
    ),
    S3Option(
        "readahead",
        options.size,
        "How far ahead a seek may go without a new request.",
        64 * KIB,
        0,
        GIB,
        s3a=("readahead.range",),
    ),
    S3Option(
        "min_seek",
        options.size,
        "Ranges of a vectored read with a smaller gap than this are one request.",
        128 * KIB,
        0,
        GIB,
        s3a=("vectored.read.min.seek.size",),
    ),
    S3Option(
        "max_read",
        options.size,
        "The most bytes of such a request; 0 keeps all ranges apart.",
        8 * MIB,
        0,
        GIB,
        s3a=("vectored.read.max.merged.size",),
    ),
    S3Option(
        "part_size",
        options.size,
        "Size of the parts of a multipart write; also the buffer size.",
        8 * MIB,
        5 * MIB,
        5 * GIB,
        s3a=("multipart.size",),
    ),
)
BY_NAME = {option.name: option for option in OPTIONS}
#: Every key of Hadoop that is known, without `fs.s3a.`.
S3A_KEYS = {key: option for option in OPTIONS for key in option.s3a}


def endpoint_problem(url: str) -> str:
    """Return what is wrong with a URL, without anything of it; "" if nothing is."""
    if "@" in url:
        return "credentials must not be in the URL; there are options for them"
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return "invalid host or port"
    if parts.scheme not in ("http", "https"):
        return "expected a URL of http or https"
    host = parts.netloc.rsplit(":", 1)[0] if not parts.netloc.endswith("]") else parts.netloc
    if not _HOST.fullmatch(host):
        return "invalid host or port"
    if parts.query or parts.fragment or not _GRAPHIC.fullmatch(url):
        return "expected a URL of a host, and perhaps a port and a path"
    return ""
