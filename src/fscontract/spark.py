"""Spark: the data source `fscontract`, a local session, and files read by executors.

Needs the extra `spark` (`pip install 'fscontract[spark]'`).
"""

from fscontract.implementations.spark.filesystem import SparkFileSystem
from fscontract.implementations.spark.package_upload import ship
from fscontract.implementations.spark.session import (
    client_session,
    cluster_session,
    connect_session,
    local_session,
)
from fscontract.pipeline import read_paths, register

__all__ = [
    "SparkFileSystem",
    "client_session",
    "cluster_session",
    "connect_session",
    "local_session",
    "read_paths",
    "register",
    "ship",
]
