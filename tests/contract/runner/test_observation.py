"""Features that a profile leaves open are observed."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fscontract import FileSystem, MemoryFileSystem, PythonFileBinding, check
from fscontract.contract.report.console import lines
from fscontract.contract.runner.result import RunResult, Verdict
from fscontract.fakes.mutants.openfile.variants import FailsAtFirstRead
from fscontract.fakes.mutants.stream import variants
from tests.unusual.store import PlainFileSystem
from tests.unusual.streams import Plain, UndeclaredByteBuffers

_CLAUSES = ("seek", "read-vectored", "open.failure-stage", "unbuffer", "capabilities")


def _checked(filesystem: FileSystem, *features: str, profile: str = "default") -> RunResult:
    return check(filesystem, profile=profile, features=features, clauses=_CLAUSES)


def _of(variant: type[variants.Variant]) -> MemoryFileSystem:
    return MemoryFileSystem(stream_class=variant)


@pytest.mark.parametrize(
    ("make", "observed"),
    [
        (
            MemoryFileSystem,
            {
                "openfile-first-read": False,
                "rejects-seek-past-eof": True,
                "supports-unbuffer": True,
                "vector-io-early-eof-check": True,
                "vector-io-overlapping-ranges": False,
            },
        ),
        (lambda: _of(variants.LaxSeek), {"rejects-seek-past-eof": False}),
        (lambda: _of(variants.LateEndCheck), {"vector-io-early-eof-check": False}),
        (lambda: _of(variants.OverlappingRanges), {"vector-io-overlapping-ranges": True}),
        (lambda: _of(variants.NoUnbuffer), {"supports-unbuffer": False}),
        (lambda: _of(variants.NoByteBuffers), {"supports-bytebuffer-read": False}),
        (
            lambda: PlainFileSystem(UndeclaredByteBuffers),
            {"supports-bytebuffer-pread": True, "supports-bytebuffer-read": True},
        ),
        (FailsAtFirstRead, {"openfile-first-read": True}),
    ],
)
def test_either_choice_conforms_and_is_reported(
    make: Callable[[], FileSystem], observed: dict[str, bool]
) -> None:
    result = _checked(make())
    assert result.conforms
    assert {name: result.observed[name] for name in observed} == observed
    assert {name: result.to_dict()["observed"][name] for name in observed} == observed
    shown = " ".join(" ".join(lines(result)).split())
    reported = [f"{name}={'yes' if has else 'no'}" for name, has in observed.items()]
    assert [text for text in reported if text not in shown] == []


def test_a_stream_that_does_not_keep_to_its_choice_fails() -> None:
    class Fickle(variants.LaxSeek):
        def seek(self, position: int) -> None:
            if position > self._size + 1:
                raise EOFError(position)
            super().seek(position)

    result = _checked(_of(Fickle))
    assert result.observed["rejects-seek-past-eof"] is False
    assert [c.clause.id for c in result.clauses if c.outcome is Verdict.FAIL] == ["seek.lax-eof"]


def test_a_declared_feature_is_not_observed() -> None:
    result = _checked(_of(variants.LaxSeek), "rejects-seek-past-eof")
    assert "rejects-seek-past-eof" not in result.observed
    assert "seek.past-eof" in [c.clause.id for c in result.clauses if c.outcome is Verdict.FAIL]


def test_a_denied_feature_is_not_observed() -> None:
    result = _checked(MemoryFileSystem(), "!rejects-seek-past-eof")
    assert "seek.lax-eof" in [c.clause.id for c in result.clauses if c.outcome is Verdict.FAIL]


def test_a_profile_without_open_features_observes_nothing() -> None:
    result = _checked(MemoryFileSystem(), profile="reference")
    assert result.observed == {}
    assert "observed" not in result.to_dict()


def test_a_clause_of_the_other_choice_says_that_it_was_observed() -> None:
    result = _checked(_of(variants.LaxSeek))
    (clause,) = (c for c in result.clauses if c.clause.id == "seek.past-eof")
    assert (clause.outcome, clause.reason) == (
        Verdict.UNDECLARED,
        "not observed: rejects-seek-past-eof",
    )


def test_a_call_that_fails_otherwise_shows_nothing() -> None:
    class Broken(Plain):
        def has_capability(self, name: str) -> bool:
            raise RuntimeError(name)

    result = _checked(PlainFileSystem(Broken))
    assert result.observed["supports-unbuffer"] is False


def test_a_python_file_says_whether_it_can_seek(tmp_path: Path) -> None:
    class Forward(io.FileIO):
        def seekable(self) -> bool:
            super().tell()  # raises if the file is closed
            return False

        def seek(self, *arguments: Any) -> int:
            raise io.UnsupportedOperation("seek")

    result = check(PythonFileBinding(Forward, str(tmp_path), "forward"), clauses="python.seek*")
    assert result.observed["supports-seek"] is False
    assert result.conforms


class Lines(io.BytesIO):
    """A file that has no method readline()."""

    def __init__(self, path: str) -> None:
        super().__init__(Path(path).read_bytes())

    def writable(self) -> bool:
        return False

    def readline(self, size: int | None = -1) -> bytes:
        raise io.UnsupportedOperation("readline")


class LastLine(Lines):
    """A file whose readline() is missing at the end only."""

    def readline(self, size: int | None = -1) -> bytes:
        if self.tell() < len(self.getbuffer()):
            return io.BytesIO.readline(self, size)
        raise io.UnsupportedOperation("readline")


def _reading(opens: Callable[[str], Any], *clauses: str) -> RunResult:
    return check(PythonFileBinding(opens, None, "lines"), clauses=clauses)


def test_an_operation_that_a_file_never_supports_is_not_verified() -> None:
    result = _reading(Lines, "python.readline.*")
    assert {(c.outcome, c.reason) for c in result.clauses} == {
        (
            Verdict.INEXPRESSIBLE,
            "the file does not support it: UNSUPPORTED (UnsupportedOperation: readline)",
        )
    }


def test_an_operation_that_a_file_supports_elsewhere_is_verified() -> None:
    result = _reading(LastLine, "python.readline.eof")
    assert [c.outcome for c in result.clauses] == [Verdict.FAIL]


class Unnamed:
    """A file that can seek, but has no method seekable()."""

    def __init__(self, path: str) -> None:
        self._file = io.BytesIO(Path(path).read_bytes())

    def __getattr__(self, name: str) -> Any:
        if name == "seekable":
            raise AttributeError(name)
        return getattr(self._file, name)


def test_a_file_without_seekable_has_the_seeks_that_it_shows() -> None:
    result = _reading(Unnamed, "seek.supported", "seek.pos", "python.seekable.*")
    assert result.observed["supports-seek"]
    failed = {c.clause.id for c in result.clauses if c.outcome is Verdict.FAIL}
    assert failed == {"python.seekable.true"}
