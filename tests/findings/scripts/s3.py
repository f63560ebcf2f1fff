"""S3 clients of a server with a bucket `bucket`, which takes any key. Argument: its URL."""

import sys

import boto3

URL, KEY, REGION = sys.argv[1], "fscontract", "us-east-1"
KEYS = {"access_key_id": KEY, "secret_access_key": KEY, "region": REGION}
session = boto3.Session(KEY, KEY, region_name=REGION)
client = session.client("s3", endpoint_url=URL)


def put(key, body):
    client.put_object(Bucket="bucket", Key=key, Body=body)


def obstore_store():
    from obstore.store import S3Store

    return S3Store("bucket", endpoint=URL, client_options={"allow_http": True}, **KEYS)


def opendal_operator():
    from opendal import Operator

    return Operator("s3", bucket="bucket", endpoint=URL, **KEYS)


def pyarrow_filesystem():
    from pyarrow.fs import S3FileSystem

    return S3FileSystem(endpoint_override=URL, access_key=KEY, secret_key=KEY, region=REGION)


def s3fs_filesystem():
    from s3fs import S3FileSystem

    return S3FileSystem(key=KEY, secret=KEY, endpoint_url=URL, skip_instance_cache=True)
