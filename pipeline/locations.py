"""The filesystem of a path or URL that a user gives to a pipeline.

`file` and `s3` have implementations in this package. Hadoop's client opens URLs that begin with
`hadoop+`, and fsspec all others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.text import mask_url, passwords_in, secrets_of
from fscontract.contract.untrusted import typed_value
from fscontract.implementations.spark.locations import (
    HADOOP,
    FileLocation,
    FsspecLocation,
    HadoopClientLocation,
    LocalLocation,
    location_of,
)
from fscontract.pipeline.blocks import bare_path

LOCAL = "file:///"
#: Prefix of an option that is passed to fsspec, or to Hadoop.
STORAGE = "storage."
#: Hadoop's schemes of a bucket.
_S3 = ("s3", "s3a", "s3n")
_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_EXPECTED = "expected a path, or a URL such as s3://bucket/path or ftp://host/path"


def is_url(path: str) -> bool:
    """Return True if text begins with a scheme."""
    return _URI.match(path) is not None


def filesystem_url(path: str) -> str:
    """Return the URL of the filesystem that has a path or URL; equal ones have equal URLs.

    Raise IllegalArgumentException if there can't be one, or if the URL contains a password.
    """
    scheme_match = _URI.match(path)
    if scheme_match is None:
        return LOCAL
    scheme, bare = scheme_match[1].lower(), bare_path(path)
    front = path.removesuffix(bare)
    authority = front[scheme_match.end() :].lstrip("/")
    if not bare.startswith("/"):
        raise IllegalArgumentException(
            f"invalid URL {mask_url(path):.200}: expected an absolute path"
        )
    if scheme == "file" and authority in ("", "localhost"):
        return LOCAL
    if scheme in _S3 and not authority.startswith(":"):
        if not authority or "@" in authority:
            raise IllegalArgumentException(
                f"{mask_url(path)}: expected a bucket; keys must be options or in the environment"
            )
        return f"s3://{authority}"
    if passwords_in(path):
        raise IllegalArgumentException(
            f"{mask_url(path)}: the URL must not contain a password; it belongs in "
            f"{_variable(front.rpartition('::')[2].partition(':')[0], 'password')}"
        )
    if "::" in path.partition("://")[2]:
        raise IllegalArgumentException(
            f"{mask_url(path):.200}: a chain must end with the path; open an archive as "
            f"{scheme}:///path with option {STORAGE}fo=URL"
        )
    if scheme == "file" or "://" not in front:
        raise IllegalArgumentException(f"invalid URL {mask_url(path):.200}: {_EXPECTED}")
    return front


def make_location(url: str, options: Mapping[str, str]) -> FileLocation:
    """Return the location of a filesystem's URL, with the options for it.

    Raise IllegalArgumentException for an unknown protocol, a missing package, or an invalid option.
    """
    if url == LOCAL:
        return LocalLocation()
    if url.startswith("s3://"):
        return location_of(url, options)
    storage = {name.removeprefix(STORAGE): text for name, text in options.items()}
    if url.startswith(HADOOP):
        return HadoopClientLocation.of(url.removeprefix(HADOOP), storage)
    return FsspecLocation.of(url, storage)


def check_no_credentials(url: str, options: Mapping[str, str]) -> None:
    """Raise IllegalArgumentException for a storage option that may be a credential.

    A location of Hadoop's client refuses them itself.
    """
    if url.startswith(HADOOP):
        return
    for name, text in options.items():
        if secrets_of({name: text}):
            scheme = url.rpartition("::")[2].partition(":")[0]
            whole = isinstance(typed_value(text), Mapping)  # the options of another protocol
            variable = _variable(name) if whole else _variable(scheme, name)
            raise IllegalArgumentException(
                f"option '{STORAGE}{name}' must not be set: credentials would be sent to "
                f"executors, which find them in {variable}, in fsspec's configuration files, or "
                "where the library looks for them"
            )


def _variable(*names: str) -> str:
    return f"the environment variable FSSPEC_{'_'.join(names).upper()}"
