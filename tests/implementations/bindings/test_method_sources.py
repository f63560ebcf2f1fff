"""A failure is inherited from the class that defines a method."""

from __future__ import annotations

import io
import threading
import weakref

import pytest
from fsspec import AbstractFileSystem
from fsspec.implementations.local import LocalFileSystem
from s3fs import S3FileSystem

from fscontract.implementations.bindings.method_sources import (
    FILE_METHODS,
    FILESYSTEM_METHODS,
    inspected,
    sources_of,
)


class Plain(AbstractFileSystem):  # type: ignore[misc]
    cachable = False


class Repeated(Plain):
    cat_file = AbstractFileSystem.cat_file


class Own(Plain):
    def cat_file(self, *args: object, **options: object) -> bytes:
        return b""


def of_cat_file(fs: AbstractFileSystem) -> frozenset[str]:
    return sources_of(fs, FILESYSTEM_METHODS, fs)["fs_cat_file"]


def test_a_method_that_a_class_does_not_define_is_of_its_base() -> None:
    assert of_cat_file(Plain()) == {"fsspec.spec.AbstractFileSystem"}


def test_a_method_that_a_class_only_repeats_is_of_its_base() -> None:
    assert of_cat_file(Repeated()) == {"fsspec.spec.AbstractFileSystem"}


def test_a_method_that_a_class_defines_has_no_source() -> None:
    assert of_cat_file(Own()) == frozenset()


def test_fsspec_itself_inherits_nothing() -> None:
    local = LocalFileSystem(skip_instance_cache=True)
    assert sources_of(local, FILESYSTEM_METHODS, local) == {}


def test_s3fs_itself_inherits_of_fsspec_only() -> None:
    s3 = S3FileSystem(anon=True, skip_instance_cache=True)
    of_s3 = sources_of(s3, FILESYSTEM_METHODS, s3)
    assert of_s3["fs_head"] == {"fsspec.spec.AbstractFileSystem"}
    assert of_s3["fs_cat_file"] == frozenset()


def test_a_subclass_of_s3fs_inherits_of_it() -> None:
    own = type("Own", (S3FileSystem,), {"__module__": "own", "cachable": False})(anon=True)
    assert "s3fs.core.S3FileSystem" in of_cat_file(own)


class Lines:
    __module__ = "other.lines"

    def read(self) -> bytes:
        return b""

    def readline(self) -> bytes:
        return b""


class Iterated:
    def __init__(self) -> None:
        self._file = Lines()

    def __next__(self) -> bytes:
        return self._file.readline()


def test_a_wrapper_makes_an_iterator_of_the_lines_of_a_file_without_one() -> None:
    assert sources_of(Iterated(), FILE_METHODS, Plain())["py_next"] == {"other.lines.Lines"}


class Wrapper:
    def __init__(self) -> None:
        self._file = Lines()

    def read(self) -> bytes:
        return b""


class NamesIt(Wrapper):
    def readline(self) -> bytes:
        return self._file.readline()


class NamesItInText(Wrapper):
    def readline(self) -> bytes:
        return bytes(getattr(self._file, "readline")())  # noqa: B009  # as wrappers may


class NamesItInAHelper(Wrapper):
    def readline(self) -> bytes:
        return _line_of(self)


def _line_of(wrapper: Wrapper) -> bytes:
    return wrapper._file.readline()


class FindsLinesItself(Wrapper):
    def readline(self) -> bytes:
        return self._file.read().partition(b"\n")[0]


@pytest.mark.parametrize("wrapper", [Wrapper, NamesIt, NamesItInText, NamesItInAHelper])
def test_a_method_may_be_that_of_a_wrapped_object(wrapper: type[Wrapper]) -> None:
    assert sources_of(wrapper(), FILE_METHODS, Plain())["py_readline"] == {"other.lines.Lines"}


def test_a_method_that_does_not_name_that_of_a_wrapped_object_is_of_the_class() -> None:
    assert sources_of(FindsLinesItself(), FILE_METHODS, Plain())["py_readline"] == frozenset()


@pytest.mark.parametrize("hangs", [True, False])
def test_a_file_whose_close_hangs_is_inspected_and_kept(hangs: bool) -> None:
    """Its finalizer would close it."""
    never, closed = threading.Event(), []

    class File:
        def close(self) -> None:
            closed.append(True)
            if hangs:
                never.wait()

    file = File()
    alive = weakref.ref(file)
    with inspected(file) as same:
        assert same is file
    del file, same
    never.set()
    assert closed == [True]
    assert (alive() is not None) is hangs


def test_a_file_of_one_thread_is_inspected_and_closed_in_that_thread() -> None:
    class OfOneThread(io.BytesIO):
        owner = threading.get_ident()

        def close(self) -> None:
            """Raise RuntimeError in any other thread."""
            if threading.get_ident() != self.owner:
                raise RuntimeError("another thread")
            super().close()

    file = OfOneThread()
    with inspected(file):
        pass
    assert file.closed
