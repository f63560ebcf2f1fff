"""S20: PyArrow leaves an empty object in place of an emptied directory. Argument: server URL."""

from s3 import client, put, pyarrow_filesystem

put("deep/k", b"abcde")
pyarrow_filesystem().delete_file("bucket/deep/k")
left = client.list_objects_v2(Bucket="bucket", Prefix="deep").get("Contents", [])
keys = [each["Key"] for each in left]
assert keys == [], keys
