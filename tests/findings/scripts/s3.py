"""The arguments of S3 clients for a server whose URL is the first argument of the script.

The server has the bucket `bucket`, and takes any key.
"""

import sys

import boto3

URL, KEY, SECRET, REGION = sys.argv[1], "fscontract", "fscontract", "us-east-1"
client = boto3.client(
    "s3",
    endpoint_url=URL,
    aws_access_key_id=KEY,
    aws_secret_access_key=SECRET,
    region_name=REGION,
)


def put(key, body):
    client.put_object(Bucket="bucket", Key=key, Body=body)


def obstore_store():
    from obstore.store import S3Store

    return S3Store(
        "bucket",
        endpoint=URL,
        access_key_id=KEY,
        secret_access_key=SECRET,
        region=REGION,
        client_options={"allow_http": True},
    )


def opendal_operator():
    import opendal

    return opendal.Operator(
        "s3",
        bucket="bucket",
        endpoint=URL,
        access_key_id=KEY,
        secret_access_key=SECRET,
        region=REGION,
    )


def pyarrow_filesystem():
    from pyarrow.fs import S3FileSystem

    return S3FileSystem(endpoint_override=URL, access_key=KEY, secret_key=SECRET, region=REGION)


def s3fs_filesystem():
    from s3fs import S3FileSystem

    return S3FileSystem(key=KEY, secret=SECRET, endpoint_url=URL, skip_instance_cache=True)
