"""Environments of targets during a check: directories, archives, servers on this machine."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

from fscontract.implementations.s3.moto_target import ACCESS_KEY, REGION, SECRET_KEY, EmbeddedServer
from servers.file_servers import sftp_server, webdav_server
from servers.ftp import ftp_server
from servers.http_files import DATA, NoRanges, WithoutRanges, WithRanges, serving
from servers.s3.client_targets import Place

Provided = Mapping[str, str]


@contextmanager
def nothing(scratch: Path) -> Iterator[Provided]:
    """Provide nothing."""
    yield {}


@contextmanager
def directory(scratch: Path) -> Iterator[Provided]:
    """Provide an empty directory."""
    made = scratch / "directory"
    made.mkdir()
    yield {"directory": str(made)}


@contextmanager
def zipped(method: int, scratch: Path) -> Iterator[Provided]:
    """Provide a zip archive with one file, `in/it`."""
    with zipfile.ZipFile(scratch / "a.zip", "w", method) as made:
        made.writestr("in/it", DATA)
    yield {"archive": str(scratch / "a.zip"), "copy": _copy(scratch)}


@contextmanager
def tarred(scratch: Path) -> Iterator[Provided]:
    """Provide a tar archive with one file, `in/it`."""
    with tarfile.open(scratch / "a.tar", "w") as made:
        info = tarfile.TarInfo("in/it")
        info.size = len(DATA)
        made.addfile(info, io.BytesIO(DATA))
    yield {"archive": str(scratch / "a.tar"), "copy": _copy(scratch)}


@contextmanager
def packed(scratch: Path) -> Iterator[Provided]:
    """Provide references to one file, `it`, in the middle of another one."""
    (scratch / "pack").write_bytes(DATA)
    yield _references(scratch, f"file://{scratch / 'pack'}")


@contextmanager
def packed_on_server(scratch: Path) -> Iterator[Provided]:
    """Provide references to one file, `it`, in the middle of a file of a web server."""
    with serving(WithRanges) as url:
        yield {**_references(scratch, f"{url}file"), "web": url}


def _references(scratch: Path, url: str) -> dict[str, str]:
    """Return what references to a part of the file with DATA at a URL provide."""
    begin, end = 100, len(DATA) - 100
    (scratch / "copy").write_bytes(DATA[begin:end])
    references = scratch / "references.json"
    references.write_text(json.dumps({"it": [url, begin, end - begin]}), encoding="utf-8")
    protocol = url.partition(":")[0]
    return {"references": str(references), "copy": str(scratch / "copy"), "protocol": protocol}


@contextmanager
def webdav(scratch: Path) -> Iterator[Provided]:
    """Provide a WebDAV server with an empty directory."""
    made = scratch / "webdav"
    made.mkdir()
    with webdav_server(made) as url:
        yield {"webdav": url}


@contextmanager
def web(handler: type[BaseHTTPRequestHandler], scratch: Path) -> Iterator[Provided]:
    """Provide a web server with one file, `file`."""
    with serving(handler) as url:
        yield {"web": url, "copy": _copy(scratch)}


@contextmanager
def ftp(scratch: Path) -> Iterator[Provided]:
    """Provide an FTP server with an empty directory."""
    made = scratch / "ftp"
    made.mkdir()
    with ftp_server(made) as url:
        yield {"ftp": url, "ftp host": urlsplit(url).netloc.rpartition("@")[2]}


@contextmanager
def sftp(scratch: Path) -> Iterator[Provided]:
    """Provide an SFTP server with an empty directory."""
    made = scratch / "sftp"
    made.mkdir()
    with sftp_server(made) as port:
        yield {"port": str(port)}


@contextmanager
def bucket(scratch: Path) -> Iterator[Provided]:
    """Provide a new bucket of an S3 server."""
    with EmbeddedServer() as server:
        place = Place(server.url, f"matrix-{uuid4().hex}")
        client = place.boto3
        client.create_bucket(Bucket=place.bucket)
        client.close()
        yield {
            "url": place.url,
            "bucket": place.bucket,
            "region": REGION,
            "key": ACCESS_KEY,
            "secret": SECRET_KEY,
        }


def _copy(scratch: Path) -> str:
    path = scratch / "copy"
    path.write_bytes(DATA)
    return str(path)


PLACES: dict[str, Callable[[Path], AbstractContextManager[Provided]]] = {
    "nothing": nothing,
    "directory": directory,
    "stored": partial(zipped, zipfile.ZIP_STORED),
    "deflated": partial(zipped, zipfile.ZIP_DEFLATED),
    "tar": tarred,
    "packed": packed,
    "packed on a server": packed_on_server,
    "webdav": webdav,
    "ranges": partial(web, WithRanges),
    "no ranges": partial(web, WithoutRanges),
    "says none": partial(web, NoRanges),
    "ftp": ftp,
    "sftp": sftp,
    "bucket": bucket,
}
