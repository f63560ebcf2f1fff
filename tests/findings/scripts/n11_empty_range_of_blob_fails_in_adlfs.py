"""N11: an empty range of a blob fails in adlfs. Argument: URL of an account of 9000-byte blobs."""

import base64
import sys

from adlfs import AzureBlobFileSystem

key = base64.b64encode(b"any key").decode()
fs = AzureBlobFileSystem(
    connection_string=f"DefaultEndpointsProtocol=http;AccountName=account;AccountKey={key};"
    f"BlobEndpoint={sys.argv[1]}"
)
for start, end in ((9001, 9003), (4, 4)):
    try:
        fs.cat_file("box/it", start, end)  # expected b""
    except Exception as error:
        assert not isinstance(error, OSError)
        print(type(error).__name__)
    else:
        raise SystemExit("fixed")
