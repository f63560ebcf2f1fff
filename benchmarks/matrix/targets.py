"""Columns of docs/matrix.md: for each target how to check it, and its findings.

To add one, add a line here, and an environment to `places.py` if it needs a new one; then `python
-m benchmarks.matrix --only NAME --write-known` creates its file of known failures.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Target:
    """One column. Words in braces are replaced by values of its place."""

    label: str
    target: str
    #: Its findings in docs/findings.md.
    findings: str = ""
    #: A key of `places.PLACES`.
    place: str = "nothing"
    options: Mapping[str, str] = field(default_factory=dict)
    #: Name of a profile, or of a file in `profiles`; "" for the binding's profile.
    profile: str = ""
    features: str = ""
    #: File in a read-only target.
    file: str = ""
    #: Check it in a separate process, which can be killed and has its own libraries.
    isolate: bool = False

    @property
    def slug(self) -> str:
        """Label as a file name."""
        return re.sub(r"[^a-z0-9]+", "-", self.label.lower()).strip("-")

    @property
    def known(self) -> Path:
        """File of its known failures; missing if it has none."""
        return HERE / "known" / f"{self.slug}.yaml"

    def arguments(self, provided: Mapping[str, str]) -> list[str]:
        """Return the arguments of `fscontract check`, without those for reports."""
        words = [self.target.format(**provided)]
        for key, value in self.options.items():
            words += ["-o", f"{key}={value.format(**provided)}"]
        if self.profile:
            path = HERE / "profiles" / f"{self.profile}.yaml"
            words += ["--profile", str(path) if path.exists() else self.profile]
        if self.features:
            words += ["--features", self.features]
        if self.file:
            words += ["--file", self.file, "--content", provided["copy"]]
        if self.isolate:
            words += ["--isolate"]
        if self.known.exists():
            words += ["--known", str(self.known)]
        return words


_CLIENTS = "benchmarks.matrix.clients"
#: Arguments of fsspec filesystems, with which programs cross several block boundaries.
_SMALL = {"block_size": "4096"}
_S3FS = {
    "key": "{key}",
    "secret": "{secret}",
    "endpoint_url": "{url}",
    "default_block_size": "4096",
}
_ARROW = {
    "access_key": "{key}",
    "secret_key": "{secret}",
    "region": "{region}",
    "endpoint_override": "{url}",
}
_KEYS = {"access_key_id": "{key}", "secret_access_key": "{secret}", "region": "{region}"}
_OBSTORE = {**_KEYS, "endpoint": "{url}", "client_options": '{{"allow_http":true}}'}
_OPENDAL = {**_KEYS, "endpoint": "{url}"}
_PORT = {"port": "{port}"}
_PLACE = {"url": "{url}", "bucket": "{bucket}"}
#: Options of fsspec's caches in front of HTTP, and of its references.
_SMALL_BEHIND = {"http": '{{"block_size":4096}}'}
_REFERENCES = {"fo": "{references}", "remote_protocol": "{protocol}"}
_BESIDE_THE_CACHE = (
    "!python-file,!supports-positioned-readable,!supports-vectored-io,!fsspec-filesystem"
)
_HTTP = "F8 F14 F15 F16 F41 F42 F51 F58"
_CONTEXT = {"api": "filecontext"}
#: pyftpdlib sometimes loses a transfer when it has to connect to the client.
_PASSIVE = {"fs.ftp.data.connection.mode": "PASSIVE_LOCAL_DATA_CONNECTION_MODE"}

OURS = (
    Target("memory", "memory"),
    Target("local", "local"),
    Target("local, portable", "local", options={"strategy": "portable"}),
    Target("s3, obstore", "s3", options={"transport": "obstore"}),
    Target("s3, boto3", "s3", options={"transport": "boto3"}),
    Target("fake", "fake"),
    *(
        Target(f"spark, {inner}", "spark", options={"inner": inner})
        for inner in ("memory", "local", "s3")
    ),
)
PYTHON = tuple(
    Target(label, f"{_CLIENTS}:{name}", found, "directory", {"folder": "{directory}"}, "", features)
    for label, name, found, features in (
        ("open() buffered", "buffered", "", ""),
        ("open() raw", "raw", "C1", ""),
        ("open() r+b", "random", "", "python-file-writable"),
        ("BytesIO", "bytesio", "C5", "python-file-writable"),
    )
)
FSSPEC = (
    Target("fsspec local", "file://{directory}", "F4 F8 F31", "directory"),
    Target(
        "fsspec dir",
        f"{_CLIENTS}:below",
        "F4 F8 F31 F46 F59",
        "directory",
        {"folder": "{directory}"},
    ),
    Target("fsspec memory", "memory://matrix", "C5 F1 F2 F3"),
    Target(
        "fsspec simplecache",
        "simplecache::file://{directory}",
        "F5 F28 F31 F32 F33 F34 F47 F49",
        "directory",
        profile="few",
    ),
    Target(
        "fsspec filecache",
        "filecache::file://{directory}",
        "F5 F28 F31 F32 F33 F34 F49 F53",
        "directory",
        profile="few",
    ),
    Target(
        "fsspec blockcache",
        "blockcache::file://{directory}",
        "F4 F6 F7 F8 F28 F31 F43",
        "directory",
        profile="few",
    ),
    Target(
        "fsspec filecache, checked",
        "filecache::file://{directory}",
        "F5 F31 F32 F33 F34 F49 F53",
        "directory",
        {"check_files": "true"},
        profile="few",
    ),
    *(
        Target(
            f"fsspec {kind}",
            "zip://::file://{archive}",
            "C2 C3 C6 C11 F31",
            place,
            profile="few",
            file="in/it",
        )
        for kind, place in (("zip stored", "stored"), ("zip deflated", "deflated"))
    ),
    Target("fsspec tar", "tar://::file://{archive}", "C3 C4 C6 F4 F9 F10 F31", "tar", file="in/it"),
    Target("fsspec http", "{web}", f"{_HTTP} F13 F35", "ranges", _SMALL, file="file"),
    Target(
        "fsspec http, ranges ignored", "{web}", f"{_HTTP} F11 F12", "no ranges", _SMALL, file="file"
    ),
    Target(
        "fsspec http, says none",
        "{web}",
        f"{_HTTP} F11 F17 F18",
        "says none",
        _SMALL,
        features="!supports-seek",
        file="file",
    ),
    *(
        Target(
            f"fsspec {cache} of http",
            f"{cache}::{{web}}",
            found,
            "ranges",
            _SMALL_BEHIND,
            file="file",
        )
        for cache, found in (
            ("simplecache", "F5 F31 F32 F34 F49"),
            ("filecache", "F5 F31 F32 F48 F49"),
            ("blockcache", "F5 F31 F32 F48"),
        )
    ),
    *(
        Target(
            f"fsspec {label}",
            "reference://",
            "F8 F14 F15 F16 F50 F51 F58",
            place,
            _REFERENCES,
            file="it",
        )
        for label, place in (
            ("reference", "packed"),
            ("reference of http", "packed on a server"),
        )
    ),
)
CLIENTS = (
    Target(
        "fsspec ftp", "{ftp}", "F8 F14 F15 F16 F23 F31 F51 F58 N7 N8 N13 N14 N20", "ftp", _SMALL
    ),
    Target("fsspec sftp", f"{_CLIENTS}:sftp", "F8 F31 F51 F59 N3 N4 N6 N7", "sftp", _PORT),
    Target("sshfs", f"{_CLIENTS}:sshfs", "F8 N1 N2 N3 N4 N5 N12 N15", "sftp", _PORT),
    Target("PyArrow local", "pyarrow+file://{directory}", "F8 S4 S5 S6 S19 S23", "directory"),
    Target("PyArrow S3", "pyarrow+s3://{bucket}", "F8 S4 S5 S6 S22 S23", "bucket", _ARROW),
    Target("obstore local", "obstore+file://{directory}", "S7 S8 S9 S10 S11 S18 S27", "directory"),
    Target("obstore memory", "obstore+memory://", "S7 S8 S9 S10 S11 S18"),
    Target("obstore S3", "obstore+s3://{bucket}", "S7 S8 S9 S10 S11 S28", "bucket", _OBSTORE),
    Target("OpenDAL local", "opendal+file://{directory}", "S7 S8 S9 S12 S26 S36", "directory"),
    Target("OpenDAL memory", "opendal+memory://", "S7 S8 S9 S12 S26 S36"),
    Target("OpenDAL S3", "opendal+s3://{bucket}", "S7 S8 S9 S12 S26", "bucket", _OPENDAL),
    Target("smart_open S3", f"{_CLIENTS}:smart", "F51 S1 S16 S29", "bucket", _PLACE),
    Target(
        "boto3 StreamingBody", f"{_CLIENTS}:body", "F51 S17", "bucket", _PLACE, "", "!supports-seek"
    ),
    Target(
        "s3fs", "s3://{bucket}", "F8 F14 F15 F16 F23 F41 F42 F51 F58 S13 S14 S38", "bucket", _S3FS
    ),
    *(
        Target(
            f"s3fs {cache}",
            "s3://{bucket}",
            "F15 F23 S15",
            "bucket",
            {**_S3FS, "default_cache_type": cache},
            features=_BESIDE_THE_CACHE,
        )
        for cache in (
            "none",
            "bytes",
            "blockcache",
            "mmap",
            "background",
            "first",
            "all",
            "adaptive",
        )
    ),
)
HADOOP = (
    Target("Hadoop raw", "hadoop+raw://{directory}", "H1 H3 H4 H5 H6 H7 H18", "directory"),
    Target("Hadoop local", "hadoop+file://{directory}", "H2 H4 H6 H7 H17 H18", "directory"),
    Target("Hadoop viewfs", "hadoop+viewfs://{directory}", "H2 H4 H6 H7 H17 H18", "directory"),
    Target("Hadoop har", "hadoop+har://{directory}", "H4 H6 H7 H9 H10 H19", "directory"),
    Target(
        "Hadoop raw, FileContext",
        "hadoop+raw://{directory}",
        "H1 H3 H4 H5 H6 H7 H18",
        "directory",
        _CONTEXT,
    ),
    Target(
        "Hadoop local, FileContext",
        "hadoop+file://{directory}",
        "H1 H3 H4 H5 H6 H7 H13 H18",
        "directory",
        _CONTEXT,
    ),
    Target("Hadoop http", "hadoop+{web}", "H4 H6 H14 H16", "ranges", file="file"),
    Target("Hadoop ftp", "hadoop+{ftp}", "H4 H6 H15 H16 H20", "ftp", _PASSIVE),
    Target("Hadoop S3A 3.3.3", "s3a", "H12", isolate=True),
)

TARGETS = (*OURS, *PYTHON, *FSSPEC, *CLIENTS, *HADOOP)
