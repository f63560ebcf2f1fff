"""The first lines of scripts: make the target again, without secrets, and the path of a file."""

from __future__ import annotations

from fscontract.contract.script.callables import arguments, callable_lines, is_callable
from fscontract.contract.script.calls import NoScript, Source
from fscontract.contract.script.layout import quoted
from fscontract.contract.text import mask_url

#: The name of the file of a script in a place that others use, too. It has no word that is a usual
#: key of a test server: masking would hide that.
FILE = "read-by-script"
_DIRECTORY = "directory = tempfile.TemporaryDirectory()"


def temporary_path() -> tuple[str, ...]:
    """Return the statements that make the path of a file in a temporary directory."""
    return (_DIRECTORY, 'path = directory.name + "/file"')


def _call(function: str, *given: str) -> str:
    return f"{function}({', '.join(filter(None, given))})"


def _path(local: bool, root: str = "") -> tuple[str, ...]:
    return temporary_path() if local else (f"path = {quoted(f'{root}{FILE}')}",)


def _chosen(target: str) -> str:
    """Return the URL of a target without the name of its binding, as in `pyarrow+file://`."""
    head, mark, rest = target.partition("://")
    return f"{head.rpartition('+')[2]}{mark}{rest}"


def fsspec_setup(source: Source, file: str | None, local: bool) -> tuple[str, ...]:
    """Return the statements for an fsspec filesystem; `file` is the path of its only file.

    `local` says that a callable returns a filesystem with local paths.
    """
    if is_callable(source):
        root = "" if local else "/"
        return (*callable_lines(source.target, source.options), *_path(local, root))
    url, given = _chosen(source.target), arguments(source.options)
    if "://" not in url:
        raise NoScript(f"{mask_url(url)} can't be made in a script")
    if file is not None:
        made = _call("url_to_fs", _url_expression(url), *given)
        return ("from fsspec.core import url_to_fs", f"fs, _ = {made}", f"path = {quoted(file)}")
    scheme = url.partition("://")[0]
    if scheme in ("file", "local", "memory"):
        made = f"fs = {_call('fsspec.filesystem', quoted(scheme), *given)}"
        return ("import fsspec", made, *_path(scheme != "memory", "/"))
    head, mark, _ = url.rpartition("file://")
    if mark and (not head or head.endswith("::")):
        made = _call("url_to_fs", f"{quoted(head + mark)} + directory.name", *given)
        lines: tuple[str, ...] = (_DIRECTORY, f"fs, root = {made}")
    else:
        lines = (f"fs, root = {_call('url_to_fs', _url_expression(url), *given)}",)
    return ("from fsspec.core import url_to_fs", *lines, f'path = root + "/{FILE}"')


def pyarrow_setup(source: Source) -> tuple[str, ...]:
    """Return the statements for a PyArrow filesystem."""
    if is_callable(source):
        raise NoScript("a callable may return a PyArrow filesystem with any root")
    url, given = _chosen(source.target), arguments(source.options)
    scheme, _, path = url.partition("://")
    if scheme == "file":
        made = f"fs = {_call('LocalFileSystem', *given)}"
        return ("from pyarrow.fs import LocalFileSystem", made, *temporary_path())
    if scheme == "s3":
        made = f"fs = {_call('S3FileSystem', *given)}"
        return ("from pyarrow.fs import S3FileSystem", made, *_path(False, f"{path.strip('/')}/"))
    made = f"fs, root = FileSystem.from_uri({_url_expression(url)})"
    return ("from pyarrow.fs import FileSystem", made, f'path = root + "{FILE}"')


def obstore_setup(source: Source) -> tuple[str, ...]:
    """Return the statements for an obstore store."""
    if is_callable(source):
        made_by = callable_lines(source.target, source.options, "store")
        return ("import obstore", *made_by, f'path = "{FILE}"')
    url, given = _chosen(source.target), arguments(source.options)
    if url.startswith("file://"):
        made = _call("obstore.store.from_url", '"file://" + directory.name', *given)
        return ("import obstore", _DIRECTORY, f"store = {made}", 'path = "file"')
    made = _call("obstore.store.from_url", _url_expression(url), *given)
    return ("import obstore", f"store = {made}", f'path = "{FILE}"')


def opendal_setup(source: Source) -> tuple[str, ...]:
    """Return the statements for an OpenDAL operator."""
    if is_callable(source):
        made_by = callable_lines(source.target, source.options, "operator")
        return (*made_by, f'path = "{FILE}"')
    url, given = _chosen(source.target), arguments(source.options)
    if url.startswith("fs://"):
        made = 'operator = Operator("fs", root=directory.name)'
        return ("from opendal import Operator", _DIRECTORY, made, 'path = "file"')
    made = f"operator = {_call('Operator.from_uri', _url_expression(url), *given)}"
    return ("from opendal import Operator", made, f'path = "{FILE}"')


def stream_setup(source: Source) -> tuple[str, ...]:
    """Return the statements for a filesystem of this package's interfaces."""
    if is_callable(source):
        return (*callable_lines(source.target, source.options), *_path(False, "/"))
    if source.target == "memory":
        made = ("from fscontract import MemoryFileSystem", "fs = MemoryFileSystem()")
        return (*made, 'path = "/file"')
    if source.target == "local":
        made = ("from fscontract import LocalFileSystem", _DIRECTORY)
        return (*made, "fs = LocalFileSystem(directory.name)", 'path = "/file"')
    raise NoScript(f"{mask_url(source.target)} can't be made in a script")


#: The environment variable of a URL that has a password.
URL_VARIABLE = "TARGET_URL"


def _url_expression(url: str) -> str:
    """Return a URL as an expression: a text, or an environment variable if it has secrets."""
    return quoted(url) if mask_url(url) == url else f'os.environ["{URL_VARIABLE}"]'
