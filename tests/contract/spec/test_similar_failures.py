"""Failures that entries of known failures cover although their signatures differ."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.result import Counterexample
from fscontract.contract.spec.known_failures import Known, match

TODAY = date(2026, 11, 27)
WRONG = "wrong after the first byte"


def failing(signature: str, length: int = 4100) -> Counterexample:
    """Return a failure of this signature, of a program on a file of this length."""
    return Counterexample(Program(length, (Step("read_byte"),)), (), "returned", identity=signature)


def entry(clause: str, signature: str, length: int = 4100) -> Known:
    """Return an entry of this signature with a program on a file of this length."""
    return Known(clause, "r", signature, program=failing(signature, length).program)


def is_known(entries: list[Known], clause: str, failure: Counterexample) -> bool:
    """Return whether the entries cover a failure of the clause on the target "memory"."""
    applying = [known for known in entries if known.applies_to("memory")]
    return match(applying, clause, failure, TODAY) is not None


class TestPlaces:
    """Wrong bytes at an offset before and behind the end of the kit's own buffer."""

    FAR = entry("read-into.data", f"read_into: returned {WRONG}; beyond the first buffer")

    @pytest.mark.parametrize(
        ("place", "length", "expected"),
        [
            ("; away from the start", 2050, True),
            ("", 8200, True),
            ("; away from the start", 2049, False),
            ("; away from the start", 8201, False),
            ("; after unbuffer", 4100, False),
            ("; at the end of the file", 4100, False),
            ("; after py_read", 4100, False),
        ],
    )
    def test_entry_covers_only_a_similar_offset(
        self, place: str, length: int, expected: bool
    ) -> None:
        found = failing(f"read_into: returned {WRONG}{place}", length)
        assert is_known([self.FAR], "read-into.data", found) is expected

    @pytest.mark.parametrize(
        "result", ["bytes not in the file", "zeros", "no bytes", f"zeros, {WRONG}"]
    )
    def test_another_result_at_the_same_offset_is_new(self, result: str) -> None:
        found = failing(f"read_into: returned {result}; away from the start")
        assert not is_known([self.FAR], "read-into.data", found)

    def test_entry_covers_the_same_wrong_bytes_of_another_method(self) -> None:
        found = failing(f"py_readlines: returned {WRONG}; away from the start")
        assert is_known([self.FAR], "python.readlines.all", found)

    def test_entry_of_another_target_covers_nothing(self) -> None:
        found = failing(f"py_readlines: returned {WRONG}; away from the start")
        elsewhere = replace(self.FAR, target="s3*")
        assert not is_known([elsewhere], "python.readlines.all", found)

    def test_entry_that_has_expired_covers_nothing(self) -> None:
        found = failing(f"py_readlines: returned {WRONG}; away from the start")
        expired = replace(self.FAR, until=date(2026, 11, 26))
        assert not is_known([expired], "python.readlines.all", found)

    def test_file_of_a_failure_that_was_not_shrunk_may_be_longer(self) -> None:
        found = failing(f"py_read: returned {WRONG}; away from the start", 140_000)
        assert not is_known([self.FAR], "python.read.data", found)
        assert is_known([self.FAR], "python.read.data", replace(found, unshrunk=True))
        shorter = replace(failing(found.signature, 1000), unshrunk=True)
        assert not is_known([self.FAR], "python.read.data", shorter)

    def test_wrong_bytes_of_another_method_near_the_start_are_new(self) -> None:
        near = entry("read-into.data", f"read_into: returned {WRONG}", 64)
        found = failing(f"py_read: returned {WRONG}", 64)
        assert not is_known([near], "python.read.data", found)

    def test_entry_without_a_program_covers_no_other_offset(self) -> None:
        bare = replace(self.FAR, program=None)
        found = failing(f"read_into: returned {WRONG}; away from the start")
        assert not is_known([bare], "read-into.data", found)


class TestStateThatReadsLeave:
    """Wrong bytes that are right without the reads before them."""

    LISTED = entry("read-into.data", f"read_into: returned {WRONG}; after py_read; after seek")

    @pytest.mark.parametrize(
        "signature",
        [
            f"py_readlines: returned {WRONG}; after read_into",
            f"py_readlines: returned {WRONG}; away from the start; after py_next; after seek",
            f"read_byte: returned {WRONG}; after a failed call; after read_byte; after skip",
        ],
    )
    def test_entry_covers_the_same_bytes_after_other_reads(self, signature: str) -> None:
        assert is_known([self.LISTED], "python.readlines.all", failing(signature))

    @pytest.mark.parametrize(
        "signature",
        [
            f"py_readlines: returned {WRONG}",
            f"py_readlines: returned {WRONG}; after seek",
            f"py_readlines: returned {WRONG}; after read_byte; after unbuffer",
            f"py_readlines: returned {WRONG}; after read_byte; after a change of the file",
            "py_readlines: returned zeros; after read_byte",
            "py_readlines: returned no bytes; after read_byte",
            "py_readlines: returned more than asked for; after read_byte",
            "py_readlines: returned; after read_byte",
            "py_readlines: IO; after read_byte",
            "py_tell: returned too early; after read_byte",
            "position: too early; after read_byte",
            "later call: moved; after read_byte",
        ],
    )
    def test_a_failure_of_another_kind_is_new(self, signature: str) -> None:
        assert not is_known([self.LISTED], "python.readlines.all", failing(signature))

    def test_effect_on_a_later_call_is_the_same_in_another_method(self) -> None:
        listed = entry("read-into.advance", "later call: end; after read_into; after seek")
        found = failing("later call: end; at the end of the file; after py_read")
        assert is_known([listed], "python.read.advance", found)
        moved = replace(found, identity="later call: moved; after py_read")
        assert not is_known([listed], "python.read.advance", moved)

    def test_wrong_seek_is_no_effect_of_reads(self) -> None:
        listed = entry("seek.pos", "later call: moved; after seek")
        assert not is_known([listed], "python.seek.set", failing("later call: moved; after seek"))
