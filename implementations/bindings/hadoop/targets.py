"""The named target `hadoop`: a filesystem of Hadoop's on a local directory."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from urllib.parse import quote

from fscontract.contract.binding import Binding, TargetError
from fscontract.implementations.bindings.hadoop.binding import HadoopBinding
from fscontract.implementations.bindings.hadoop.places import SCHEMES


def hadoop(options: Mapping[str, str]) -> Binding:
    """Hadoop's RawLocalFileSystem, in a directory for temporary files.

    Option `filesystem` is "raw", "file", "viewfs" or "har", and `api` "filesystem" or
    "filecontext"; others go into Hadoop's Configuration. TargetError.
    """
    given = dict(options)
    scheme = given.pop("filesystem", SCHEMES[0])
    if scheme not in SCHEMES:
        raise TargetError(f"hadoop: filesystem is {' or '.join(SCHEMES)}, not {scheme!r}")
    binding = HadoopBinding.from_url(f"{scheme}://{quote(tempfile.gettempdir())}", given)
    binding.name = "hadoop"
    return binding
