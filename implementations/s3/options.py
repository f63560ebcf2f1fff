"""The options of the S3 filesystem: one table; `values.py` reads their values by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30

#: What Hadoop's keys start with; those of one bucket have `bucket.NAME.` after it.
S3A = "fs.s3a."
#: What the variables start with that are ours.
VARIABLE = "FSCONTRACT_S3_"


@dataclass(frozen=True)
class Option:
    """One option. `kind` is how its value is read, by `values.py`; `least` and `most` bound it."""

    name: str
    kind: str
    meaning: str
    default: Any = None
    least: float = 0
    most: float = 0
    #: What a choice may be.
    choices: tuple[str, ...] = ()
    #: Hadoop's keys without `fs.s3a.`, the first one before the others.
    s3a: tuple[str, ...] = ()
    #: What Hadoop's values are called here, where they differ.
    translated: tuple[tuple[str, str], ...] = ()
    #: Variables, the first one before the others; the default is FSCONTRACT_S3_ and the name.
    variables: tuple[str, ...] | None = None

    @property
    def environment(self) -> tuple[str, ...]:
        """The variables of the environment that set it."""
        if self.variables is None:
            return (VARIABLE + self.name.upper(),)
        return self.variables


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
    Option(
        "endpoint",
        "url",
        "URL of the store, if that is not AWS; no user or password in it.",
        s3a=("endpoint",),
        variables=("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
    ),
    Option(
        "ssl",
        "boolean",
        "Whether an endpoint without a scheme is https.",
        True,
        s3a=("connection.ssl.enabled",),
    ),
    Option(
        "region",
        "name",
        "Region of the bucket. The default is that of the files of AWS, else us-east-1.",
        s3a=("endpoint.region",),
        variables=("AWS_REGION", "AWS_DEFAULT_REGION"),
    ),
    Option(
        "path_style",
        "boolean",
        "Whether the bucket is in the path of URLs, not in the host. The default is yes with an "
        "endpoint, or a bucket with a dot in its name.",
        s3a=("path.style.access",),
    ),
    Option("anonymous", "boolean", "Whether to sign no request."),
    Option(
        "provider",
        "list",
        "Where credentials are looked for, one after the other: among these options (keys), in the "
        "environment, files and roles of AWS (chain), or nowhere (anonymous).",
        choices=("chain", "keys", "anonymous"),
        s3a=("aws.credentials.provider",),
        translated=_PROVIDERS,
    ),
    Option(
        "profile",
        "text",
        "Profile of the files of AWS to take credentials and region from. Without it, what finds "
        "credentials goes by AWS_PROFILE itself.",
    ),
    Option(
        "access_key",
        "secret",
        "Access key; not passed on to other processes. Without it, what finds credentials goes by "
        "AWS_ACCESS_KEY_ID itself; so it does with the next two.",
        s3a=("access.key",),
        variables=(),
    ),
    Option(
        "secret_key",
        "secret",
        "Secret key; not passed on to other processes.",
        s3a=("secret.key",),
        variables=(),
    ),
    Option(
        "session_token",
        "secret",
        "Session token of temporary keys; not passed on to other processes.",
        s3a=("session.token",),
        variables=(),
    ),
    Option(
        "transport",
        "choice",
        "Library that sends requests; auto is obstore, but boto3 in a process that was forked "
        "from one that has loaded obstore.",
        "auto",
        choices=("auto", "obstore", "boto3"),
    ),
    Option(
        "retries",
        "count",
        "How often one call may try again after failures that may pass.",
        5,
        0,
        100,
        s3a=("retry.limit", "attempts.maximum"),
    ),
    Option(
        "connect_timeout",
        "time",
        "How long making a connection may take.",
        5.0,
        0.001,
        3600,
        s3a=("connection.establish.timeout",),
    ),
    Option(
        "timeout",
        "time",
        "How long there may be no byte of an answer.",
        30.0,
        0.001,
        3600,
        s3a=("connection.timeout",),
    ),
    Option(
        "connections",
        "count",
        "The most threads that fetch at the same time, and the most idle connections.",
        32,
        1,
        1000,
        s3a=("connection.maximum",),
    ),
    Option(
        "on_change",
        "choice",
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
    Option(
        "read_policy",
        "policy",
        "Read policy of streams that are opened without one.",
        s3a=("experimental.input.fadvise",),
        translated=(("normal", "adaptive"),),
    ),
    Option(
        "readahead",
        "size",
        "How far ahead a seek may go without a new request.",
        64 * KIB,
        0,
        GIB,
        s3a=("readahead.range",),
    ),
    Option(
        "min_seek",
        "size",
        "Ranges of a vectored read with a smaller gap than this are one request.",
        128 * KIB,
        0,
        GIB,
        s3a=("vectored.read.min.seek.size",),
    ),
    Option(
        "max_read",
        "size",
        "The most bytes of such a request; 0 keeps all ranges apart.",
        8 * MIB,
        0,
        GIB,
        s3a=("vectored.read.max.merged.size",),
    ),
    Option(
        "part_size",
        "size",
        "Size of the parts of a multipart write; so much memory it needs.",
        8 * MIB,
        5 * MIB,
        5 * GIB,
        s3a=("multipart.size",),
    ),
)
BY_NAME = {option.name: option for option in OPTIONS}
#: Every key of Hadoop that is known, without `fs.s3a.`.
S3A_KEYS = {key: option for option in OPTIONS for key in option.s3a}
