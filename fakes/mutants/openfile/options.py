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
from fscontract.fakes.mutants.openfile.filesystems import (
    OWN_KEY,
    UNSUPPORTED_KEY,
    OpeningBuilder,
    OpeningFileSystem,
    opening_mutant,
)
from fscontract.implementations.openfile_builder import OpenOptions


def _is_standard(key: str) -> bool:
    return key in option_table().standard_keys


def _is_foreign(key: str) -> bool:
    return key in option_table().options and not _is_standard(key)


@opening_mutant("open.option-methods")
class NoDoubles(OpeningBuilder):
    """opt_double() and must_double() are not there."""

    def opt_double(self, key: str, value: float) -> OpeningBuilder:
        raise UnsupportedOperationException("opt_double")

    def must_double(self, key: str, value: float) -> OpeningBuilder:
        raise UnsupportedOperationException("must_double")


@opening_mutant("open.option-methods")
class TextOnly(OpeningBuilder):
    """Of the values of opt() and must() only text is taken."""

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


@opening_mutant("open.must-unknown")
class MandatoryIsIgnored(OpeningBuilder):
    """A mandatory key that is not known is ignored, unless it looks like a standard one."""

    def _check_keys(self) -> None:
        mandatory = self._mandatory
        kept = {k for k in mandatory if k.startswith(PREFIX) or k in self._unsupported}
        self._mandatory = kept
        super()._check_keys()
        self._mandatory = mandatory


@opening_mutant("open.must-unknown")
class UnknownIsUnsupported(OpeningBuilder):
    """A mandatory key that is not known raises UnsupportedOperationException."""

    def _check_keys(self) -> None:
        known = {*self._known, *self._unsupported}
        for key in sorted(self._mandatory - known):
            if not key.startswith(PREFIX):
                raise UnsupportedOperationException(f"option {key!r} is not supported here")
        super()._check_keys()


@opening_mutant("open.must-unsupported")
class UnsupportedIsUnknown(OpeningFileSystem):
    """A mandatory key of a feature that is not supported raises IllegalArgumentException."""

    class builder(OpeningBuilder):  # noqa: N801 - stands for the attribute
        def _check_keys(self) -> None:
            self._unsupported = ()
            super()._check_keys()


@opening_mutant("open.must-unsupported")
class UnsupportedIsIgnored(OpeningBuilder):
    """A mandatory key of a feature that is not supported is ignored."""

    def _check_keys(self) -> None:
        self._known = {*self._known, UNSUPPORTED_KEY}
        super()._check_keys()
        self._known = {OWN_KEY}


@opening_mutant("open.opt-unknown")
class OptionalIsMandatory(OpeningBuilder):
    """An optional key that is not known raises IllegalArgumentException."""

    def _check_keys(self) -> None:
        super()._check_keys()
        known = {*self._known, *self._unsupported, *option_table().options}
        for key in sorted(self.optional - known):
            if not key.startswith(PREFIX):
                raise IllegalArgumentException(f"unknown option {key!r:.80}")


@opening_mutant("open.opt-same-validation")
class DemandsAreChecked(OpeningBuilder):
    """The start of a split that is no number is ignored if optional, and fails if mandatory."""

    def build(self) -> Future[FSDataInputStream]:
        self._check_keys()
        text = self.text(SPLIT_START).strip()
        if SPLIT_START in self._mandatory and text.removeprefix("-").isalpha():
            raise IllegalArgumentException(f"{SPLIT_START}: {text!r} is no number")
        return super().build()


@opening_mutant("open.opt-same-validation")
class OwnDemandsAreChecked(OpeningBuilder):
    """The filesystem's own key takes numbers only, but that is checked only if it is mandatory."""

    def build(self) -> Future[FSDataInputStream]:
        self._check_keys()
        if OWN_KEY in self._mandatory and not self.text(OWN_KEY).isdecimal():
            raise IllegalArgumentException(f"{OWN_KEY}: a number is wanted")
        return super().build()


@opening_mutant("open.build-checks-options")
class ChecksInFuture(OpeningBuilder):
    """A mandatory key that is not known shows in the future."""

    def build(self) -> Future[FSDataInputStream]:
        try:
            return super().build()
        except (IllegalArgumentException, UnsupportedOperationException) as error:
            failed: Future[FSDataInputStream] = Future()
            failed.set_exception(error)
            return failed


@opening_mutant("open.build-checks-options")
class ChecksWhenSet(OpeningBuilder):
    """must() itself raises an error for a key that is not known."""

    def must(self, key: str, value: str | int | bool) -> OpeningBuilder:
        super().must(key, value)
        self._check_keys()
        return self


@opening_mutant("open.last-wins")
class MandatoryStays(OpeningBuilder):
    """A key that was mandatory once stays so."""

    def opt(self, key: str, value: str | int | bool) -> OpeningBuilder:
        stays = key in self._mandatory
        super().opt(key, value)
        self._mandatory |= {key} if stays else set()
        return self


@opening_mutant("open.last-wins")
class OptionalStays(OpeningBuilder):
    """A key that was optional first does not become mandatory."""

    def must(self, key: str, value: str | int | bool) -> OpeningBuilder:
        stays = key in self.optional
        super().must(key, value)
        self._mandatory -= {key} if stays else set()
        return self


@opening_mutant("open.last-wins")
class FirstLengthStays(OpeningBuilder):
    """The first length that was set counts."""

    def _set(self, key: str, value: str | int | bool) -> None:
        before = self._values.get(LENGTH)
        super()._set(key, value)
        if before is not None:
            self._values[LENGTH] = before


@opening_mutant("open.option-null")
class NullIsNothing(OpeningBuilder):
    """A setting without a value is passed over."""

    def _set(self, key: str, value: str | int | bool) -> None:
        if value is not None:
            super()._set(key, value)


@opening_mutant("open.option-null")
class NullIsText(OpeningBuilder):
    """A null key is looked up like any other."""

    def _set(self, key: str, value: str | int | bool) -> None:
        super()._set("null" if key is None else key, value)


@opening_mutant("open.std-recognised")
class NoFooterKey(OpeningBuilder):
    """The key for footers is not known, as in releases before Hadoop 3.4."""

    def _check_keys(self) -> None:
        if FOOTER_CACHE in self._mandatory:
            raise IllegalArgumentException(f"unknown option {FOOTER_CACHE!r}")
        super()._check_keys()


@opening_mutant("open.std-must-ok")
class DemandsFailLater(OpeningBuilder):
    """A read policy as a demand fails in the future, where policies have no effect."""

    def _options(self) -> OpenOptions:
        if READ_POLICY in self._mandatory:
            raise PathIOException(self._path, "no read policies here")
        return super()._options()


@opening_mutant("open.std-mixed")
class NoMixture(OpeningBuilder):
    """build() raises an error if some keys are optional and others mandatory."""

    def _check_keys(self) -> None:
        super()._check_keys()
        if self._mandatory and self.optional:
            raise IllegalArgumentException("set either optional or mandatory keys")


@opening_mutant("open.std-opt-unsupported")
class HintIsUnsupported(OpeningBuilder):
    """A hint on footers raises UnsupportedOperationException, as no footers are kept here."""

    def _check_keys(self) -> None:
        super()._check_keys()
        if FOOTER_CACHE in self.optional:
            raise UnsupportedOperationException("no footers are kept here")


@opening_mutant("open.std-must-unsupported")
class DemandIsUnsupported(OpeningBuilder):
    """A read policy as a demand raises UnsupportedOperationException."""

    def _check_keys(self) -> None:
        super()._check_keys()
        if READ_POLICY in self._mandatory:
            raise UnsupportedOperationException("there are no read policies here")


@opening_mutant("open.std-opt-unrecognised")
class StandardPrefixIsStrict(OpeningBuilder):
    """A key with the standard prefix that is not known fails although it is optional."""

    def _check_keys(self) -> None:
        super()._check_keys()
        for key in sorted(self.optional):
            if key.startswith(PREFIX) and not _is_standard(key):
                raise IllegalArgumentException(f"no standard option {key!r:.80}")


@opening_mutant("open.std-must-unrecognised")
class PrefixIsEnough(OpeningBuilder):
    """Every mandatory key with the standard prefix counts as known."""

    def _check_keys(self) -> None:
        mandatory = self._mandatory
        self._mandatory = {key for key in mandatory if not key.startswith(PREFIX)}
        super()._check_keys()
        self._mandatory = mandatory


@opening_mutant("open.opt-foreign")
class OthersKeysFail(OpeningBuilder):
    """An optional key of another store raises IllegalArgumentException."""

    def _check_keys(self) -> None:
        super()._check_keys()
        for key in sorted(self.optional):
            if _is_foreign(key):
                raise IllegalArgumentException(f"{key!r} is not an option of this store")
