"""The options that lead fscontract's own S3 client to the server of `--server-faults`."""

from __future__ import annotations

OURS = {
    "bucket": "{bucket}",
    "endpoint": "{url}",
    "path_style": "true",
    "region": "{region}",
    "access_key": "{key}",
    "secret_key": "{secret}",
}
