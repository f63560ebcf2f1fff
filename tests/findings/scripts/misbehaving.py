"""An S3 server that misbehaves, with the object `k`, and its clients."""

from fscontract.fakes import S3Server


def serving(body, **misbehaviour):
    server = S3Server(bucket="bucket", **misbehaviour)
    server.write("k", body)
    return server


def keys(server):
    names = "access_key_id", "secret_access_key", "region"
    return dict(zip(names, (server.access_key, server.secret_key, server.region), strict=True))


def s3fs_filesystem(server):
    from s3fs import S3FileSystem

    return S3FileSystem(skip_instance_cache=True, **server.storage_options)


def obstore_store(server):
    from obstore.store import S3Store

    http = {"allow_http": True}
    return S3Store("bucket", endpoint=server.url, client_options=http, **keys(server))


def opendal_operator(server):
    from opendal import Operator

    return Operator("s3", bucket="bucket", endpoint=server.url, **keys(server))


def pyarrow_filesystem(server):
    from pyarrow.fs import S3FileSystem

    given = {"access_key": server.access_key, "secret_key": server.secret_key}
    return S3FileSystem(endpoint_override=server.url, region=server.region, **given)
