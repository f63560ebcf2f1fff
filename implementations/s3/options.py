"""Options of the S3 filesystem: one table, and how their values are parsed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.api.openfile_options import option_table
from fscontract.contract.spec.clauses import near_misses

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


_UNITS = {"": 1, "K": KIB, "M": MIB, "G": GIB}
_SIZE = re.compile(r"(\d{1,15})\s*([KMG]?)(?:i?B)?", re.ASCII | re.IGNORECASE)
_TIMES = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_TIME = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)\s*(ms|s|m|h)?", re.ASCII | re.IGNORECASE)
_COUNT = re.compile(r"\d{1,9}", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII)
_HOST = re.compile(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]", re.ASCII)
_GRAPHIC = re.compile(r"[!-~]+", re.ASCII)
_TRUTHS = {"true": True, "yes": True, "on": True, "1": True}
_TRUTHS |= {"false": False, "no": False, "off": False, "0": False}


class Given:
    """A value of an option, and where it comes from; the value of a secret is never shown."""

    def __init__(self, option: Option, value: Any, origin: str = "") -> None:
        self.option = option
        self.origin = origin
        self._value = value

    def read(self) -> Any:
        """The value, of its type and within its bounds; IllegalArgumentException."""
        return _READERS[self.option.kind](self)

    @property
    def text(self) -> str:
        """The value as text, without white space around it."""
        return str(self._value).strip()

    def refuse(self, allowed: str) -> IllegalArgumentException:
        """The error for it: what, where from, and what is allowed."""
        shown = "" if self.option.kind in ("secret", "url") else f" {self._value!r:.80}"
        origin = f", from {self.origin}," if self.origin else ""
        return IllegalArgumentException(
            f"S3 option {self.option.name!r}{origin} can't be{shown or ' this'}: {allowed}"
        )

    def boolean(self) -> bool:
        """True or false."""
        value = _TRUTHS.get(self.text.lower())
        if value is None:
            raise self.refuse("true or false is allowed")
        return value

    def count(self) -> int:
        """A whole number."""
        found = None if isinstance(self._value, bool) else _COUNT.fullmatch(self.text)
        return int(self._bounded(int(found[0]) if found else None, "a number"))

    def size(self) -> int:
        """Bytes."""
        found = None if isinstance(self._value, bool) else _SIZE.fullmatch(self.text)
        size = int(found[1]) * _UNITS[found[2].upper()] if found else None
        return int(self._bounded(size, "a number of bytes, or of K, M or G,"))

    def time(self) -> float:
        """Seconds; a number of Hadoop's without a unit is of milliseconds."""
        found = None if isinstance(self._value, bool) else _TIME.fullmatch(self.text)
        if found is None:
            seconds = None
        else:
            unit = found[2] or ("ms" if S3A in self.origin else "s")
            seconds = float(found[1]) * _TIMES[unit.lower()]
        return float(self._bounded(seconds, "a time such as 500ms, 5s or 2m", " seconds"))

    def choice(self) -> str:
        """One of the choices of the option, by its own name or by Hadoop's."""
        return self._chosen(self.text)

    def list(self) -> tuple[str, ...]:
        """Choices with commas between them; of a class, the last part of its name counts."""
        names = [name.strip().rsplit(".", 1)[-1] for name in self.text.split(",")]
        return tuple(self._chosen(name) for name in names if name)

    def policy(self) -> str:
        """The first read policy of a list that is known."""
        known = {name: name for name in option_table().policies}
        known |= dict(self.option.translated)
        for name in self.text.lower().split(","):
            if name.strip() in known:
                return known[name.strip()]
        raise self.refuse(f"{', '.join(known)} are allowed")

    def name(self) -> str:
        """A name such as that of a region."""
        if not _NAME.fullmatch(self.text):
            raise self.refuse("letters, digits and hyphens are allowed")
        return self.text

    def url(self) -> str:
        """A URL of http or https, or a host without a scheme; nothing of it is shown."""
        problem = endpoint_problem(self.text if "://" in self.text else f"https://{self.text}")
        if problem:
            raise self.refuse(problem)
        return self.text.rstrip("/")

    def _chosen(self, name: str) -> str:
        names = {choice: choice for choice in self.option.choices}
        if S3A in self.origin:
            names = dict(self.option.translated)
        if name not in names:
            raise self.refuse(f"{', '.join(names)} are allowed{near_misses(name, names)}")
        return names[name]

    def _bounded(self, number: float | None, allowed: str, unit: str = "") -> float:
        option = self.option
        if number is None or not option.least <= number <= option.most:
            bounds = f"{option.least:.15g} to {option.most:.15g}{unit}"
            raise self.refuse(f"{allowed} from {bounds} is allowed")
        return number


_READERS: Mapping[str, Any] = {
    "boolean": Given.boolean,
    "count": Given.count,
    "size": Given.size,
    "time": Given.time,
    "choice": Given.choice,
    "list": Given.list,
    "policy": Given.policy,
    "name": Given.name,
    "url": Given.url,
    "text": lambda given: given.text,
    "secret": lambda given: given.text,
}


def endpoint_problem(url: str) -> str:
    """What is wrong with the URL of a store, "" if nothing is; nothing of the URL is in it."""
    if "@" in url:
        return "credentials do not belong into a URL; there are options for them"
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return "it is no URL with a valid host and port"
    if parts.scheme not in ("http", "https"):
        return "a URL of http or https is allowed"
    host = parts.netloc.rsplit(":", 1)[0] if not parts.netloc.endswith("]") else parts.netloc
    if not _HOST.fullmatch(host):
        return "it is no URL with a valid host and port"
    if parts.query or parts.fragment or not _GRAPHIC.fullmatch(url):
        return "a URL of a host, and perhaps a port and a path, is allowed"
    return ""
