"""A session for any Spark master: on this machine, of a cluster, or of a Spark Connect server."""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import urlsplit

from fscontract.contract.binding import TargetError
from fscontract.contract.targets import UsageError
from fscontract.implementations.spark.session import (
    client_session,
    cluster_session,
    local_session,
)

_LOCAL = re.compile(r"local(\[(\d+|\*)(, ?\d+)?\]|-cluster\[\d+, ?\d+, ?\d+\])?")
_CLUSTER = re.compile(r"(spark://.+|yarn|k8s://.+)")
_CLIENT = re.compile(r"sc://.+")
_KNOWN = "local[2], local-cluster[2,1,1024], spark://HOST:PORT, yarn, k8s://... or sc://HOST:PORT"
#: Timeout in seconds for connecting to an address; Spark itself would try for a minute or more.
_PATIENCE = 5.0


def is_local(master: str) -> bool:
    """Return True if executors run on this machine."""
    return _LOCAL.fullmatch(master) is not None


def session_of(
    master: str,
    settings: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> AbstractContextManager[Any]:
    """Return a context with a session; raise UsageError for an invalid master, TargetError.

    `settings` are for a driver on this machine. `environment` has credentials for executors, which
    only a local session accepts: on a cluster they belong to the executors' own environment.
    """
    if is_local(master):
        return local_session(master, settings, environment)
    if environment:
        raise UsageError(
            f"credentials can't be options with --spark {without_secrets(master)}: executors find "
            "them in their environment, in files of the library, or in a role"
        )
    if _CLIENT.fullmatch(master):
        _reach(master)
        return client_session(master)
    if not _CLUSTER.fullmatch(master):
        raise UsageError(
            f"invalid value for --spark: {without_secrets(master)!r:.80}; expected {_KNOWN}"
        )
    if master.startswith("spark://"):
        _reach(master)
    return cluster_session(master)


def without_secrets(master: str) -> str:
    """Return the master without secrets, such as the token of sc://host:port/;token=..."""
    parts = urlsplit(master)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}" if "://" in master else master


def _reach(master: str) -> None:
    """Raise TargetError unless a server listens at one of the master's addresses."""
    addresses = urlsplit(master).netloc.rpartition("@")[2].split(",")
    why: Exception | None = None
    for address in addresses:
        host, _, port = address.partition(":")
        try:
            number = int(port) if port else 15002
            socket.create_connection((host, number), _PATIENCE).close()
        except (OSError, ValueError, OverflowError) as error:
            why = error
        else:
            return
    raise TargetError(f"{without_secrets(master)}: can't connect to Spark: {why}")
