"""N11: an empty range of a blob fails in adlfs. Argument: URL of an account of 9000-byte blobs."""

import base64
import sys

from adlfs import AzureBlobFileSystem

key = base64.b64encode(b"any key").decode()
fs = AzureBlobFileSystem(
    connection_string=f"DefaultEndpointsProtocol=http;AccountName=account;AccountKey={key};"
    f"BlobEndpoint={sys.argv[1]}"
)
seen = []
for start, end in ((9001, 9003), (4, 4)):
    try:
        seen.append(fs.cat_file("box/it", start, end))
    except Exception as error:
        seen.append(error)

assert seen == [b"", b""], seen
