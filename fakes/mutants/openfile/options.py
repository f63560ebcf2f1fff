"""Mutants of optional and mandatory keys."""

from __future__ import annotations

from concurrent.futures import Future

from fscontract.contract.api.errors import (
    IllegalArgumentException,
    PathIOException,
    UnsupportedOperationException,
)
from fscontract.contract.api.filesystem import FSDataInputStream
from fscontract.contract.api.openfile_options import (
    FOOTER_CACHE,
    LENGTH,
    PREFIX,
    READ_POLICY,
    SPLIT_START,
    option_table,
)
from fscontract.fakes.mutants.correct_parts import (
    OWN_KEY,
    UNSUPPORTED_KEY,
    OpeningBuilder,
    OpeningFileSystem,
)
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.implementations.openfile_builder import OpenOptions


def _is_standard(key: str) -> bool:
    return key in option_table().standard_keys


def _is_foreign(key: str) -> bool:
    return key in option_table().options and not _is_standard(key)


@mutant("open.option-methods")
class NoDoubles(OpeningBuilder):
    """opt_double() and must_double() are missing."""

    def opt_double(self, key: str, value: float) -> OpeningBuilder:
        raise UnsupportedOperationException("opt_double")

    def must_double(self, key: str, value: float) -> OpeningBuilder:
        raise UnsupportedOperationException("must_double")


@mutant("open.option-methods")
class TextOnly(OpeningBuilder):
    """opt() and must() accept text only."""

    def opt(self, key: str, value: str | int | bool) -> OpeningBuilder:
        if isinstance(value, bool):
            raise AttributeError("'bool' object has no attribute 'strip'")
        super().opt(key, value)
        return self

    def must(self, key: str, value: str | int | bool) -> OpeningBuilder:
        if isinstance(value, bool):
            raise AttributeError("'bool' object has no attribute 'strip'")
        super().must(key, value)
        return self


@mutant("open.must-unknown", OpeningBuilder._check_keys)
def mandatory_is_ignored(self: OpeningBuilder) -> None:
    """An unknown mandatory key is ignored, unless it looks like a standard one."""
    mandatory = self._mandatory
    checked = {k for k in mandatory if k.startswith(PREFIX) or k in self._unsupported}
    self._mandatory = checked
    right(self)._check_keys()
    self._mandatory = mandatory


@mutant("open.must-unknown", OpeningBuilder.must)
def flags_are_hints(self: OpeningBuilder, key: str, value: str | int | bool) -> OpeningBuilder:
    """must() with a boolean sets a hint."""
    right(self).must(key, value)
    self._mandatory -= {key} if isinstance(value, bool) else set()
    return self


@mutant("open.must-unknown", OpeningBuilder._check_keys)
def unknown_is_unsupported(self: OpeningBuilder) -> None:
    """An unknown mandatory key raises UnsupportedOperationException."""
    known = {*self._known, *self._unsupported}
    for key in sorted(self._mandatory - known):
        if not key.startswith(PREFIX):
            raise UnsupportedOperationException(f"option {key!r} is not supported here")
    right(self)._check_keys()


@mutant("open.must-unsupported")
class UnsupportedIsUnknown(OpeningFileSystem):
    """A mandatory key of a feature that is not supported raises IllegalArgumentException."""

    class builder(OpeningBuilder):  # noqa: N801 - stands for the attribute
        def _check_keys(self) -> None:
            self._unsupported = ()
            super()._check_keys()


@mutant("open.must-unsupported", OpeningBuilder._check_keys)
def unsupported_is_ignored(self: OpeningBuilder) -> None:
    """A mandatory key of a feature that is not supported is ignored."""
    self._known = {*self._known, UNSUPPORTED_KEY}
    right(self)._check_keys()
    self._known = {OWN_KEY}


@mutant("open.opt-unknown", OpeningBuilder._check_keys)
def optional_is_mandatory(self: OpeningBuilder) -> None:
    """An unknown optional key raises IllegalArgumentException."""
    right(self)._check_keys()
    known = {*self._known, *self._unsupported, *option_table().options}
    for key in sorted(self.optional - known):
        if not key.startswith(PREFIX):
            raise IllegalArgumentException(f"unknown option {key!r:.80}")


@mutant("open.opt-same-validation", OpeningBuilder.build)
def demands_are_checked(self: OpeningBuilder) -> Future[FSDataInputStream]:
    """A start of a split that is not a number is ignored if optional, and fails if mandatory."""
    self._check_keys()
    text = self.text(SPLIT_START).strip()
    if SPLIT_START in self._mandatory and text.removeprefix("-").isalpha():
        raise IllegalArgumentException(f"{SPLIT_START}: {text!r} is not a number")
    return right(self).build()


@mutant("open.opt-same-validation", OpeningBuilder.build)
def own_demands_are_checked(self: OpeningBuilder) -> Future[FSDataInputStream]:
    """The filesystem's own key accepts numbers only, but is checked only if it is mandatory."""
    self._check_keys()
    if OWN_KEY in self._mandatory and not self.text(OWN_KEY).isdecimal():
        raise IllegalArgumentException(f"{OWN_KEY}: a number is wanted")
    return right(self).build()


@mutant("open.build-checks-options", OpeningBuilder.build)
def checks_in_future(self: OpeningBuilder) -> Future[FSDataInputStream]:
    """An unknown mandatory key fails in the future."""
    try:
        return right(self).build()
    except (IllegalArgumentException, UnsupportedOperationException) as error:
        failed: Future[FSDataInputStream] = Future()
        failed.set_exception(error)
        return failed


@mutant("open.build-checks-options", OpeningBuilder.must)
def checks_when_set(self: OpeningBuilder, key: str, value: str | int | bool) -> OpeningBuilder:
    """must() itself raises an error for an unknown key."""
    right(self).must(key, value)
    self._check_keys()
    return self


@mutant("open.last-wins", OpeningBuilder.opt)
def mandatory_stays(self: OpeningBuilder, key: str, value: str | int | bool) -> OpeningBuilder:
    """A key that was mandatory once stays mandatory."""
    stays = key in self._mandatory
    right(self).opt(key, value)
    self._mandatory |= {key} if stays else set()
    return self


@mutant("open.last-wins", OpeningBuilder.must)
def optional_stays(self: OpeningBuilder, key: str, value: str | int | bool) -> OpeningBuilder:
    """A key that was optional first does not become mandatory."""
    stays = key in self.optional
    right(self).must(key, value)
    self._mandatory -= {key} if stays else set()
    return self


@mutant("open.last-wins", OpeningBuilder.opt_long)
def number_stays_mandatory(self: OpeningBuilder, key: str, value: int) -> OpeningBuilder:
    """optLong() leaves a key mandatory that mustDouble() has set."""
    before = set(self._mandatory)
    right(self).opt_long(key, value)
    self._mandatory |= before
    return self


@mutant("open.last-wins", OpeningBuilder.must_double)
def number_stays_optional(self: OpeningBuilder, key: str, value: float) -> OpeningBuilder:
    """mustDouble() leaves a key optional that any other method has set."""
    stays = key in self.optional
    right(self).must_double(key, value)
    self._mandatory -= {key} if stays else set()
    return self


@mutant("open.last-wins", OpeningBuilder._set)
def first_length_stays(self: OpeningBuilder, key: str, value: str | int | bool) -> None:
    """The first length that was set is used."""
    before = self._values.get(LENGTH)
    right(self)._set(key, value)
    if before is not None:
        self._values[LENGTH] = before


@mutant("open.option-null", OpeningBuilder._set)
def null_is_nothing(self: OpeningBuilder, key: str, value: str | int | bool) -> None:
    """A setting without a value is ignored."""
    if value is not None:
        right(self)._set(key, value)


@mutant("open.option-null", OpeningBuilder._set)
def null_is_text(self: OpeningBuilder, key: str, value: str | int | bool) -> None:
    """A null key is looked up like any other."""
    right(self)._set("null" if key is None else key, value)


@mutant("open.std-recognised", OpeningBuilder._check_keys)
def no_footer_key(self: OpeningBuilder) -> None:
    """The key for footers is unknown, as in releases before Hadoop 3.4."""
    if FOOTER_CACHE in self._mandatory:
        raise IllegalArgumentException(f"unknown option {FOOTER_CACHE!r}")
    right(self)._check_keys()


@mutant("open.std-must-ok", OpeningBuilder._options)
def demands_fail_later(self: OpeningBuilder) -> OpenOptions:
    """A mandatory read policy fails in the future, where policies have no effect."""
    if READ_POLICY in self._mandatory:
        raise PathIOException(self._path, "no read policies here")
    return right(self)._options()


@mutant("open.std-mixed", OpeningBuilder._check_keys)
def no_mixture(self: OpeningBuilder) -> None:
    """build() raises an error if some keys are optional and others mandatory."""
    right(self)._check_keys()
    if self._mandatory and self.optional:
        raise IllegalArgumentException("set either optional or mandatory keys")


@mutant("open.std-opt-unsupported", OpeningBuilder._check_keys)
def hint_is_unsupported(self: OpeningBuilder) -> None:
    """A hint on footers raises UnsupportedOperationException, because footers are not supported."""
    right(self)._check_keys()
    if FOOTER_CACHE in self.optional:
        raise UnsupportedOperationException("no footers are kept here")


@mutant("open.std-must-unsupported", OpeningBuilder._check_keys)
def demand_is_unsupported(self: OpeningBuilder) -> None:
    """A mandatory read policy raises UnsupportedOperationException."""
    right(self)._check_keys()
    if READ_POLICY in self._mandatory:
        raise UnsupportedOperationException("there are no read policies here")


@mutant("open.std-opt-unrecognised", OpeningBuilder._check_keys)
def standard_prefix_is_strict(self: OpeningBuilder) -> None:
    """An unknown optional key with the standard prefix fails."""
    right(self)._check_keys()
    for key in sorted(self.optional):
        if key.startswith(PREFIX) and not _is_standard(key):
            raise IllegalArgumentException(f"no standard option {key!r:.80}")


@mutant("open.std-must-unrecognised", OpeningBuilder._check_keys)
def prefix_is_enough(self: OpeningBuilder) -> None:
    """Every mandatory key with the standard prefix counts as known."""
    mandatory = self._mandatory
    self._mandatory = {key for key in mandatory if not key.startswith(PREFIX)}
    right(self)._check_keys()
    self._mandatory = mandatory


@mutant("open.opt-foreign", OpeningBuilder._check_keys)
def others_keys_fail(self: OpeningBuilder) -> None:
    """An optional key of another store raises IllegalArgumentException."""
    right(self)._check_keys()
    for key in sorted(self.optional):
        if _is_foreign(key):
            raise IllegalArgumentException(f"{key!r} is not an option of this store")
