"""Failures that entries of known failures cover although their signatures differ."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.result import Counterexample
from fscontract.contract.spec.known_failures import Known, entries_of, match

TODAY = date(2026, 11, 27)
WRONG = "wrong after the first byte"


def failing(signature: str, length: int = 4100) -> Counterexample:
    """Return a failure of this signature, of a program on a file of this length."""
    return Counterexample(Program(length, (Step("read_byte"),)), (), "returned", identity=signature)


def entry(clause: str, signature: str, length: int = 4100) -> Known:
    """Return an entry of this signature with a program on a file of this length."""
    return Known(clause, "r", signature, program=failing(signature, length).program)


def is_known(entries: list[Known], clause: str, failure: Counterexample) -> bool:
    """Return whether the entries cover a failure of the clause."""
    return match(entries_of(entries, clause, "memory"), clause, failure, TODAY) is not None


class TestOffsets:
    """The same failure before and behind the end of the kit's own buffer."""

    FAR = entry("read-into.data", f"read_into: returned {WRONG}; beyond the first buffer")

    @pytest.mark.parametrize(
        ("place", "length", "expected"),
        [
            ("; away from the start", 2050, True),
            ("", 1024, True),
            ("; away from the start", 64, False),
            ("; away from the start", 500, False),
            ("; away from the start", 40_000, False),
            ("; after unbuffer", 4100, False),
            ("; at the end of the file", 4100, False),
        ],
    )
    def test_entry_covers_only_a_similar_offset(
        self, place: str, length: int, expected: bool
    ) -> None:
        found = failing(f"read_into: returned {WRONG}{place}", length)
        assert is_known([self.FAR], "read-into.data", found) is expected

    @pytest.mark.parametrize("result", ["bytes not in the file", "zeros", "no bytes"])
    def test_another_result_at_the_same_offset_is_new(self, result: str) -> None:
        found = failing(f"read_into: returned {result}; away from the start")
        assert not is_known([self.FAR], "read-into.data", found)

    def test_wrong_bytes_that_are_listed_elsewhere_are_the_same_at_the_start_of_a_read(
        self,
    ) -> None:
        near = entry("read-into.data", "read_into: returned zeros; away from the start", 70)
        found = failing("read_into: returned zeros; beyond the first buffer; away from the start")
        assert is_known([self.FAR, near], "read-into.data", found)
        assert not is_known([near], "read-into.data", found)

    def test_wrong_bytes_of_another_read_are_new(self) -> None:
        found = failing(f"read_byte: returned {WRONG}; away from the start")
        assert not is_known([self.FAR], "read-into.data", found)

    def test_entry_without_a_program_covers_no_other_offset(self) -> None:
        bare = replace(self.FAR, program=None)
        found = failing(f"read_into: returned {WRONG}; away from the start")
        assert not is_known([bare], "read-into.data", found)


class TestStateThatReadsLeave:
    """Wrong bytes that are right without the reads before them."""

    THREE = (
        entry("read-into.data", f"read_into: returned {WRONG}; after py_read; after seek"),
        entry("seek.pos", "later call: moved; away from the start; after read_into; after seek"),
        entry("python.read.data", "py_read: returned bytes not in the file; after py_next"),
    )
    FOUND = failing(f"py_readlines: returned {WRONG}; after read_byte; after seek")

    def test_entries_of_three_clauses_cover_every_clause(self) -> None:
        assert is_known([*self.THREE], "python.readlines.all", self.FOUND)

    def test_entries_of_two_clauses_cover_themselves_only(self) -> None:
        assert not is_known([*self.THREE[:2]], "python.readlines.all", self.FOUND)

    def test_entries_of_another_target_cover_nothing(self) -> None:
        elsewhere = [replace(known, target="s3*") for known in self.THREE]
        assert not is_known(elsewhere, "python.readlines.all", self.FOUND)

    @pytest.mark.parametrize(
        "signature",
        [
            f"py_readlines: returned {WRONG}",
            f"py_readlines: returned {WRONG}; away from the start",
            f"py_readlines: returned {WRONG}; after seek",
            f"py_readlines: returned {WRONG}; after read_byte; after unbuffer",
            f"py_readlines: returned {WRONG}; after read_byte; after a change of the file",
            "py_readlines: returned no bytes; after read_byte",
            "py_readlines: returned more than asked for; after read_byte",
            "py_readlines: returned; after read_byte",
            "py_readlines: IO; after read_byte",
            "py_tell: returned too early; after read_byte",
            "position: too early; after read_byte",
        ],
    )
    def test_a_failure_of_another_kind_is_new(self, signature: str) -> None:
        assert not is_known([*self.THREE], "python.readlines.all", failing(signature))

    def test_ends_that_come_too_early_cover_such_ends(self) -> None:
        ends = [
            entry("seek.pos", "later call: end; after read_into; after seek"),
            entry("read-byte.value", "read_byte: returned end of file; after py_read"),
            entry("python.read.progress", "py_read: returned no bytes; after py_read"),
        ]
        found = failing("py_readline: returned no bytes; after py_read; after py_next")
        assert is_known(ends, "python.readline.last", found)
        assert not is_known(ends, "python.readlines.all", self.FOUND)


class TestPlaces:
    """Wrong bytes at a place of the file, which several reads show."""

    THREE = (
        entry("read-into.data", f"read_into: returned {WRONG}; away from the start"),
        entry("python.read.data", "py_read: returned zeros; beyond the first buffer"),
        entry("python.readline.line", "py_readline: returned too late; away from the start"),
    )
    FOUND = failing(f"py_readlines: returned {WRONG}; away from the start")

    def test_entries_of_three_clauses_cover_a_clause_without_an_entry(self) -> None:
        assert is_known([*self.THREE], "python.readlines.all", self.FOUND)
        assert not is_known([*self.THREE[:2]], "python.readlines.all", self.FOUND)

    def test_a_clause_with_an_entry_of_its_own_is_not_covered(self) -> None:
        own = entry("python.readlines.all", "py_readlines: OTHER KeyError")
        assert not is_known([*self.THREE, own], "python.readlines.all", self.FOUND)

    def test_a_failure_near_the_start_is_new(self) -> None:
        near = replace(self.FOUND, program=Program(5, (Step("py_readlines", (None,)),)))
        assert not is_known([*self.THREE], "python.readlines.all", near)

    @pytest.mark.parametrize(
        "signature",
        [
            f"py_readlines: returned {WRONG}; after seek",
            "py_readlines: returned; away from the start",
            "py_readlines: returned no bytes; away from the start",
            f"py_readlines: returned {WRONG}; at the end of the file",
        ],
    )
    def test_a_failure_of_another_kind_is_new(self, signature: str) -> None:
        assert not is_known([*self.THREE], "python.readlines.all", failing(signature))
