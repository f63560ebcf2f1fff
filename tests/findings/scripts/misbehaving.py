"""An S3 server that misbehaves, with the object `k`, and its clients."""

from fscontract.fakes import S3Server


def serving(body, **misbehaviour):
    server = S3Server(bucket="bucket", **misbehaviour)
    server.write("k", body)
    return server


def s3fs_filesystem(server):
    from s3fs import S3FileSystem

    return S3FileSystem(skip_instance_cache=True, **server.storage_options)


def obstore_store(server):
    from obstore.store import S3Store

    return S3Store(
        "bucket",
        endpoint=server.url,
        access_key_id=server.access_key,
        secret_access_key=server.secret_key,
        region=server.region,
        client_options={"allow_http": True},
    )


def opendal_operator(server):
    import opendal

    return opendal.Operator(
        "s3",
        bucket="bucket",
        endpoint=server.url,
        access_key_id=server.access_key,
        secret_access_key=server.secret_key,
        region=server.region,
    )


def pyarrow_filesystem(server):
    from pyarrow.fs import S3FileSystem

    return S3FileSystem(
        endpoint_override=server.url,
        access_key=server.access_key,
        secret_key=server.secret_key,
        region=server.region,
    )
