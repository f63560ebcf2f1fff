"""HTTP and S3 servers on loopback, whose misbehaviour is a set of named options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fscontract.fakes.servers.http_server import HttpServer as HttpServer
    from fscontract.fakes.servers.s3_server import S3Server as S3Server

__all__ = ["HttpServer", "S3Server"]


def __getattr__(name: str) -> Any:
    """Import a server when it is first used: pytest loads this package at start-up."""
    if name == "HttpServer":
        from fscontract.fakes.servers.http_server import HttpServer

        return HttpServer
    if name == "S3Server":
        from fscontract.fakes.servers.s3_server import S3Server

        return S3Server
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
