"""A failure is inherited from the class that defines a method."""

from __future__ import annotations

from fsspec import AbstractFileSystem

from fscontract.implementations.bindings.method_sources import FILESYSTEM_METHODS, sources_of


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
