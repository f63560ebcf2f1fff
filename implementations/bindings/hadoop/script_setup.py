"""The URI, the options and the file of a Java class that shows a failure."""

from __future__ import annotations

import json
import re
from urllib.parse import unquote, urljoin, urlsplit

from fscontract.contract.script.calls import JavaApi, NoScript, Source
from fscontract.contract.text import mask_url, secrets_of
from fscontract.implementations.bindings.hadoop.spelling import spell_option, spell_step
from fscontract.implementations.bindings.script_setup import FILE, URL_VARIABLE

#: Options of the target that are not Hadoop's.
_OWN = ("filesystem", "api", "bucket")
#: URIs of local filesystems, and the class that Hadoop uses for them.
_RAW = 'configuration.set("fs.file.impl", "org.apache.hadoop.fs.RawLocalFileSystem");'
#: The class that a FileContext uses instead.
_RAW_CONTEXT = (
    'configuration.set("fs.AbstractFileSystem.file.impl", "org.apache.hadoop.fs.local.RawLocalFs");'
)
#: The mount table of viewfs without one: a directory at `_MOUNT`.
_MOUNT = "/mounted"
_LINK = (
    f'configuration.set("fs.viewfs.mounttable.default.link.{_MOUNT}",'
    ' "file:" + System.getProperty("java.io.tmpdir"));'
)
#: Filesystems whose archive or mount table is made for a check.
_MADE_HERE = ("har://", "viewfs:///")


def java_setup(source: Source) -> JavaApi:
    """Return the filesystem of a target of Hadoop; raise NoScript if a class can't make it."""
    is_context = source.options.get("api", "filesystem") != "filesystem"
    options = tuple(
        f"configuration.set({json.dumps(name)}, {_value(name, str(value))});"
        for name, value in source.options.items()
        if name not in _OWN
    )
    scheme = source.options.get("filesystem", "raw")
    url = source.target.partition("+")[2] or source.target
    if url.startswith(("raw://", "file://", *_MADE_HERE)):
        scheme = url.partition("://")[0]
    elif source.target != "hadoop":
        if "://" not in url:
            raise NoScript(f"{mask_url(source.target)} can't be made in a class")
        uri = json.dumps(url) if mask_url(url) == url else f'System.getenv("{URL_VARIABLE}")'
        path = f"/{FILE}"
        if source.file:
            path = urljoin(unquote(urlsplit(url).path), source.file)
        made = json.dumps(path), options, spell_step, spell_option, is_context
        return JavaApi(uri, *made, source.content if source.file else None)
    if scheme == "viewfs":
        path = f'"{_MOUNT}/{FILE}"'
        made = path, (_LINK, *options), spell_step, spell_option, is_context
        return JavaApi('"viewfs:///"', *made)
    if scheme == "har":
        made = 'archive, "file"', options, spell_step, spell_option, is_context
        return JavaApi('"har:/tmp/fscontract.har"', *made, is_archive=True)
    raw = (_RAW_CONTEXT if is_context else _RAW,) if scheme == "raw" else ()
    path = f'System.getProperty("java.io.tmpdir"), "{FILE}"'
    return JavaApi('"file:///"', path, (*raw, *options), spell_step, spell_option, is_context)


def _value(name: str, value: str) -> str:
    if secrets_of({name: value}):
        variable = re.sub(r"\W", "_", name).upper()
        return f'System.getenv("{variable}")'
    return json.dumps(value)
