"""Known failures: reading, matching, writing and pruning the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from fscontract.contract.concurrency.verdict import NO_ORDER
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.result import (
    ClauseResult,
    Counterexample,
    PhaseShare,
    RunResult,
    Verdict,
)
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.spec.known_failures import (
    Known,
    KnownError,
    absent,
    failures,
    load_known,
    match,
    parse_known,
    prune_known,
    save_known,
    write_known,
)

MakeRun = Callable[..., RunResult]
TODAY = date(2026, 5, 4)
SEEK = Known("seek.negative", "kept for callers", "returned")
FAILED = Counterexample(None, ("EOF",), "returned")


def _judged(name: str, outcome: Verdict, actual: str = "returned") -> ClauseResult:
    failing = outcome in (Verdict.FAIL, Verdict.KNOWN, Verdict.HANG)
    found = Counterexample(None, ("EOF",), actual) if failing else None
    return ClauseResult(clauses()[name], outcome, 1, found)


def test_a_full_entry_is_read(tmp_path: Path) -> None:
    """Every key there is, and a date as a date."""
    path = tmp_path / "known.yaml"
    path.write_text(
        "known:\n- clause: seek.negative\n  reason: kept\n  signature: returned\n"
        "  issue: https://example.org/12\n  until: 2027-06-01\n  target: 's3:*'\n"
    )
    (entry,) = load_known(path)
    assert entry == Known(
        "seek.negative", "kept", "returned", "https://example.org/12", date(2027, 6, 1), "s3:*"
    )
    assert entry.applies_to("s3://bucket")
    assert not entry.applies_to("memory")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"clause": "seek.negativ"}, "unknown clause 'seek.negativ'; did you mean seek.negative"),
        ({"clause": None}, "clause must be a non-empty string"),
        ({"reason": "  "}, "reason must be a non-empty string"),
        ({"signature": 5}, "signature must be a non-empty string"),
        ({"until": "soon"}, "until must be a date like 2027-06-01, got 'soon'"),
        ({"until": 20270601}, "until must be a date like 2027-06-01"),
        ({"issue": 12}, "issue must be a string"),
        ({"intermittent": "yes"}, "intermittent must be true or false, got 'yes'"),
        ({"scenarios": []}, "scenarios must be a list of names, got []"),
        ({"scenarios": "plan"}, "scenarios must be a list of names, got 'plan'"),
        ({"scenarios": [1]}, "scenarios must be a list of names, got [1]"),
        ({"program": {"length": 1, "steps": [["leap"]]}}, "program: step 1: unknown operation"),
        ({"program": [1]}, "program: expected an object with length and steps"),
        ({"actual": "x"}, "unknown key 'actual'; allowed: clause, reason, signature"),
    ],
)
def test_a_mistake_is_one_line_with_place(change: dict[str, object], said: str) -> None:
    """File, number of the entry, and what is allowed."""
    good = {"clause": "seek.negative", "reason": "r", "signature": "s"}
    with pytest.raises(KnownError) as caught:
        parse_known([good, {**good, "signature": "t", **change}], "known.yaml")
    (line,) = str(caught.value).splitlines()
    assert line.startswith(f"known.yaml: known entry 2: {said}")


def test_the_first_mistakes_of_many_are_told() -> None:
    """Each in a line of bounded length."""
    bad = {"clause": "x" * 100_000, "reason": "r", "signature": "s", "until": "y" * 100_000}
    with pytest.raises(KnownError) as caught:
        parse_known([bad] * 1_000, "f")
    lines = str(caught.value).splitlines()
    assert len(lines) == 21
    assert lines[-1] == "... and more errors"
    assert max(map(len, lines)) < 200


def test_entries_are_not_compared_with_all_before_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time to read a file grows with its size, not with the square of it."""
    compared = []
    equal = Known.__eq__

    def count(one: Known, other: object) -> bool:
        compared.append(one)
        return equal(one, other)

    monkeypatch.setattr(Known, "__eq__", count)
    entry = {"clause": "seek.negative", "reason": "r"}
    parse_known([{**entry, "signature": str(i)} for i in range(1_000)], "f")
    assert len(compared) < 100


def test_every_mistake_is_told() -> None:
    """A line for each, of all entries."""
    with pytest.raises(KnownError) as caught:
        parse_known([{}, 5], "f")
    assert len(str(caught.value).splitlines()) == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("known: {", "not YAML"),
        ("knwon: []", "expected one key, 'known'"),
        ("- a", "expected one key, 'known'"),
        ("known: 5", "expected a list, got int"),
        ("known: !!python/object/apply:os.getcwd []", "the tag .* is not allowed"),
    ],
)
def test_a_file_of_another_shape_is_refused(text: str, said: str, tmp_path: Path) -> None:
    """In one line; nothing but plain data is read."""
    path = tmp_path / "known.yaml"
    path.write_text(text)
    with pytest.raises(KnownError, match=said) as caught:
        load_known(path)
    assert len(str(caught.value).splitlines()) == 1


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    """With the path."""
    with pytest.raises(KnownError, match=r"none\.yaml: No such file"):
        load_known(tmp_path / "none.yaml")


def test_the_same_entry_twice_is_a_mistake() -> None:
    """One of them would never be pruned."""
    entry = {"clause": "seek.negative", "reason": "r", "signature": "s"}
    with pytest.raises(KnownError, match="entry 2: duplicate entry"):
        parse_known([entry, entry], "f")


def test_a_failure_matches_by_clause_and_signature() -> None:
    """A failure that looks different is a new one."""
    other = Counterexample(None, ("EOF",), "IO (OSError: no)")
    assert match((SEEK,), "seek.negative", FAILED, TODAY) is SEEK
    assert match((SEEK,), "seek.zero", FAILED, TODAY) is None
    assert match((SEEK,), "seek.negative", other, TODAY) is None


def test_a_failure_that_was_not_shrunk_matches_with_needless_circumstances() -> None:
    """A run without time to shrink it finds the same failure."""
    entry = Known("seek.negative", "r", "seek: returned; after close")
    found = replace(FAILED, identity="seek: returned; after unbuffer; after close")
    assert match((entry,), "seek.negative", found, TODAY) is None
    assert match((entry,), "seek.negative", replace(found, unshrunk=True), TODAY) is entry
    fewer = replace(FAILED, identity="seek: returned", unshrunk=True)
    assert match((entry,), "seek.negative", fewer, TODAY) is None


@pytest.mark.parametrize(
    ("circumstances", "expected"),
    [
        ("IO; after close; after seek", True),
        ("IO; after close; away from the start", True),
        ("EOF; after close; after seek", False),
        ("returned; after close; after seek", False),
        ("IO; after seek", False),
    ],
)
def test_an_entry_covers_an_exception_of_a_closed_stream_after_any_calls(
    circumstances: str, expected: bool
) -> None:
    known = Known("python.seek.closed", "r", "py_seek: IO; after close")
    found = replace(FAILED, identity=f"py_seek: {circumstances}")
    assert (match((known,), "python.seek.closed", found, TODAY) is known) is expected


def test_an_entry_of_a_closed_stream_that_returns_covers_no_calls_before_that() -> None:
    """It may return data that these calls left."""
    known = Known("python.read.closed", "r", "py_read: returned; after close")
    found = replace(FAILED, identity="py_read: returned; after close; after py_read")
    assert match((known,), "python.read.closed", found, TODAY) is None


@pytest.mark.parametrize(
    ("occurred", "expected"),
    [
        ("returned bytes not in the file; away from the start", []),
        ("returned zeros; away from the start", ["python.read.eof"]),
        ("returned bytes not in the file; after seek", ["python.read.eof"]),
        ("IO; away from the start", ["python.read.eof"]),
    ],
)
def test_an_entry_of_wrong_bytes_is_there_while_the_call_returns_others(
    occurred: str, expected: list[str]
) -> None:
    """Which bytes a read past the end meets depends on the program."""
    known = Known("python.read.eof", "r", "py_read: returned too early; away from the start")
    found = replace(FAILED, identity=f"py_read: {occurred}")
    assert [entry.clause for entry in absent((known,), known.clause, [found])] == expected


RACE = Known("pread.isolation", "a race", NO_ORDER, intermittent=True)


@pytest.mark.parametrize(
    ("entry", "clause", "listed"),
    [
        (RACE, "pread.isolation", True),
        (RACE, "pread.serializable", True),
        (RACE, "pread.buffers", True),
        (RACE, "model.pread-thread-safe", False),
        (RACE, "read-vectored.concurrent", False),
        (replace(RACE, intermittent=False), "pread.serializable", False),
        (replace(RACE, signature="threads: hang"), "pread.serializable", False),
        (replace(RACE, target="s3a*"), "pread.serializable", False),
    ],
)
def test_a_race_is_listed_in_each_clause_in_which_its_operations_race(
    entry: Known, clause: str, listed: bool
) -> None:
    """Only if its entry is intermittent; one about threads that hang is none of a race."""
    failure = Counterexample(None, ("a serial order",), "returned", how=entry.signature)
    known = [entry] if entry.applies_to("memory") else []
    assert (match(known, clause, failure, TODAY) is entry) is listed


@pytest.mark.parametrize(
    ("signature", "clause", "listed"),
    [
        ("position: too late; after seek", "python.tell.value", True),
        ("position: too late; after seek", "getpos.value", True),
        ("position: too late; after seek", "python.seek.absolute", False),
        ("get_pos: returned; after seek", "python.tell.value", False),
    ],
)
def test_a_wrong_position_is_listed_in_the_clauses_of_both_apis(
    signature: str, clause: str, listed: bool
) -> None:
    """A program of a Python file may call both, and which of them is met first varies."""
    known = Known("getpos.value", "a seek lies", signature)
    failure = replace(FAILED, identity=signature)
    assert (match([known], clause, failure, TODAY) is known) is listed


def test_the_entry_of_a_race_lists_no_failure_of_one_thread() -> None:
    """Nor threads that hang, which is another bug."""
    failure = Counterexample(None, ("a serial order",), "returned", how=NO_ORDER)
    alone = replace(failure, how="pread: returned", identity="pread: returned too late")
    hang = replace(failure, how="threads: hang")
    found = [
        match([RACE], "pread.serializable", one, TODAY) is not None
        for one in (failure, alone, hang)
    ]
    assert found == [True, False, False]


def test_an_entry_ends_after_its_day() -> None:
    """On the day itself it still matches."""
    entry = Known("seek.negative", "r", "returned", until=TODAY)
    assert match((entry,), "seek.negative", FAILED, TODAY) is entry
    assert match((entry,), "seek.negative", FAILED, date(2026, 5, 5)) is None


def test_writing_adds_what_fails_and_keeps_what_is_there(tmp_path: Path, make_run: MakeRun) -> None:
    """Old reasons and the comment on top stay; only failures are added."""
    path = tmp_path / "known.yaml"
    path.write_text(
        "# Ask Ann first.\nknown:\n"
        "- {clause: seek.negative, reason: kept for callers, signature: returned}\n"
    )
    run = make_run(
        _judged("seek.negative", Verdict.KNOWN),
        _judged("seek.zero", Verdict.FAIL),
        _judged("seek.pos", Verdict.PASS),
    )
    added = write_known(path, run, "being repaired")
    assert added == (Known("seek.zero", "being repaired", "returned"),)
    assert path.read_text().startswith("# Ask Ann first.\n")
    assert load_known(path) == (SEEK, *added)
    assert write_known(path, make_run(_judged("seek.zero", Verdict.FAIL)), "again") == ()


def test_a_failure_without_time_to_shrink_it_is_written_only_if_no_other_is_the_same(
    make_run: MakeRun,
) -> None:
    """Its circumstances may be needless, so the next run need not show it."""
    shrunk = replace(FAILED, identity="seek: returned")
    same = replace(FAILED, identity="seek: returned; after close", unshrunk=True)
    other = replace(FAILED, identity="seek: IO; after close", unshrunk=True)
    judged = replace(
        _judged("seek.negative", Verdict.FAIL), counterexample=shrunk, others=(same, other)
    )
    written = [(e.signature, e.intermittent) for e in failures(make_run(judged), "r")]
    assert written == [("seek: returned", False), ("seek: IO; after close", True)]


SEEKS = Program(4, (Step("seek", (-1,)),))


def test_a_program_that_shows_the_failure_is_written_on_one_line(
    tmp_path: Path, make_run: MakeRun
) -> None:
    path = tmp_path / "known.yaml"
    judged = _judged("seek.negative", Verdict.FAIL)
    shown = replace(judged, counterexample=replace(FAILED, program=SEEKS))
    write_known(path, make_run(shown), "r")
    assert "  program: {length: 4, streams: 1, steps: [[seek, -1]]}\n" in path.read_text()
    assert load_known(path)[0].program == SEEKS


@pytest.mark.parametrize(
    "failure",
    [
        replace(FAILED, program=SEEKS, unshrunk=True),
        replace(FAILED, program=SEEKS, before=(SEEKS,)),
        replace(FAILED, program=SEEKS.with_steps(SEEKS.steps * 100)),
    ],
    ids=["not shrunk", "not alone", "long"],
)
def test_only_a_short_program_that_shows_the_failure_alone_is_written(
    failure: Counterexample, make_run: MakeRun
) -> None:
    judged = replace(_judged("seek.negative", Verdict.FAIL), counterexample=failure)
    assert [e.program for e in failures(make_run(judged), "r")] == [None]


def test_writing_gives_an_entry_without_a_program_the_one_that_showed_its_failure(
    tmp_path: Path, make_run: MakeRun
) -> None:
    path = tmp_path / "known.yaml"
    entry = "- {clause: seek.negative, reason: kept, signature: returned}\n"
    path.write_text(f"known:\n{entry}- {{clause: seek.zero, reason: r, signature: IO}}\n")
    judged = _judged("seek.negative", Verdict.KNOWN)
    shown = replace(judged, counterexample=replace(FAILED, program=SEEKS))
    assert write_known(path, make_run(shown, _judged("seek.zero", Verdict.FIXED)), "again") == ()
    assert [(e.reason, e.program) for e in load_known(path)] == [("kept", SEEKS), ("r", None)]


def test_an_entry_keeps_its_own_program(tmp_path: Path, make_run: MakeRun) -> None:
    path = tmp_path / "known.yaml"
    other = SEEKS.with_steps(SEEKS.steps * 2)
    for program in (other, SEEKS):
        failure = replace(FAILED, program=program)
        judged = replace(_judged("seek.negative", Verdict.FAIL), counterexample=failure)
        write_known(path, make_run(judged), "r")
    assert [e.program for e in load_known(path)] == [other]


def test_writing_makes_the_file(tmp_path: Path, make_run: MakeRun) -> None:
    """Even if nothing fails, so that a first run leaves a valid file."""
    path = tmp_path / "known.yaml"
    assert write_known(path, make_run(_judged("seek.zero", Verdict.PASS)), "r") == ()
    assert load_known(path) == ()


def test_pruning_drops_what_no_longer_occurs(tmp_path: Path, make_run: MakeRun) -> None:
    """Entries that pass, or fail in another way, are removed; others stay, optional ones too."""
    path = tmp_path / "known.yaml"
    path.write_text(
        "known:\n"
        "- {clause: seek.negative, reason: r, signature: returned, until: 2027-06-01}\n"
        "- {clause: seek.zero, reason: r, signature: returned}\n"
        "- {clause: seek.pos, reason: r, signature: IO}\n"
        "- {clause: seek.noop, reason: r, signature: returned}\n"
        "- {clause: seek.zero, reason: r, signature: returned, target: local}\n"
        "- {clause: seek.zero, reason: r, signature: IO, intermittent: true}\n"
    )
    run = make_run(
        _judged("seek.negative", Verdict.KNOWN),
        _judged("seek.zero", Verdict.FIXED),
        _judged("seek.pos", Verdict.FAIL),
        _judged("seek.noop", Verdict.UNDECLARED),
    )
    assert [e.clause for e in prune_known(path, run)] == ["seek.zero", "seek.pos"]
    left = [(e.clause, e.target) for e in load_known(path)]
    assert left[:3] == [("seek.negative", ""), ("seek.noop", ""), ("seek.zero", "local")]
    assert left[3:] == [("seek.zero", "")]
    assert [e.intermittent for e in load_known(path)] == [False, False, False, True]
    assert load_known(path)[0].until == date(2027, 6, 1)


def test_an_entry_stays_while_its_failure_occurs_under_fewer_circumstances(
    tmp_path: Path, make_run: MakeRun
) -> None:
    """As in a run, which does not call such an entry fixed."""
    path = tmp_path / "known.yaml"
    signature = "'seek: returned; after close'"
    path.write_text(f"known:\n- {{clause: seek.zero, reason: r, signature: {signature}}}\n")
    failure = replace(FAILED, identity="seek: returned")
    run = make_run(replace(_judged("seek.zero", Verdict.FAIL), counterexample=failure))
    assert prune_known(path, run) == ()


def test_a_run_that_is_out_of_time_prunes_nothing(tmp_path: Path, make_run: MakeRun) -> None:
    """The program that shows a failure may be one of those that had no time."""
    path = tmp_path / "known.yaml"
    path.write_text("known:\n- {clause: seek.zero, reason: r, signature: returned}\n")
    run = make_run(_judged("seek.zero", Verdict.PASS))
    cut = replace(run, cut_short=(PhaseShare("seeded", 3, 300),))
    assert prune_known(path, cut) == ()
    assert [e.clause for e in prune_known(path, run)] == ["seek.zero"]


DAY_OF_RUN = date(2026, 11, 27)
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
    return match(applying, clause, failure, DAY_OF_RUN) is not None


class TestPlaces:
    """Wrong bytes at an offset before and behind the end of the kit's own buffer."""

    FAR = entry("read-into.data", f"read_into: returned {WRONG}; beyond the first buffer")

    @pytest.mark.parametrize(
        ("place", "length", "expected"),
        [
            ("; away from the start", 2042, True),
            ("", 8216, True),
            ("; away from the start; after a failed call", 8200, True),
            ("; away from the start", 2041, False),
            ("; away from the start", 8217, False),
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


class TestRaised:
    """Reads and seeks that raise far from the start, or on a stream that a failed call broke."""

    LISTED = entry("seek.pos", "seek: IO; beyond the first buffer; away from the start", 8193)
    BROKEN = entry("python.read.data", "py_read: IO; after a failed call; after seek", 8193)

    @pytest.mark.parametrize(
        ("clause", "signature"),
        [
            ("seek.at-len", "seek: IO; away from the start"),
            ("python.seek.set", "py_seek: IO; beyond the first buffer"),
            ("seek.lax-eof", "seek: IO; at the end of the file; after seek"),
            ("seek.lax-eof", "seek: IO; after a failed call; away from the start; after seek"),
        ],
    )
    def test_entry_covers_the_same_exception_at_a_similar_offset(
        self, clause: str, signature: str
    ) -> None:
        assert is_known([self.LISTED], clause, failing(signature, 8200))
        assert not is_known([self.LISTED], clause, failing(signature, 30))

    def test_entry_covers_another_seek_after_which_a_read_raises(self) -> None:
        listed = entry("seek.pos", "later call: raised; after seek")
        found = failing("later call: raised; away from the start; after seek")
        assert is_known([listed], "python.seek.set", found)
        after_reads = replace(found, identity="later call: raised; after py_read; after seek")
        assert not is_known([listed], "python.seek.set", after_reads)

    @pytest.mark.parametrize(
        ("clause", "signature"),
        [
            ("python.readline.line", "py_readline: IO; after a failed call; away from the start"),
            ("seek.lax-eof", "seek: IO; at the end of the file; after a failed call; after seek"),
        ],
    )
    def test_entry_covers_each_call_on_a_stream_that_a_failed_call_broke(
        self, clause: str, signature: str
    ) -> None:
        assert is_known([self.BROKEN], clause, failing(signature, 8193))

    @pytest.mark.parametrize(
        "signature",
        [
            "py_readline: IO; after seek",
            "py_readline: IO; after a failed call; after unbuffer",
            "py_readline: IO; after a failed call; after py_read",
            "py_readline: OTHER zlib.error; after a failed call; after seek",
            "py_readline: UNSUPPORTED; after a failed call; after seek",
            "py_readline: returned zeros; after a failed call; after seek",
            "py_tell: IO; after a failed call; after seek",
        ],
    )
    def test_another_failure_after_a_failed_call_is_new(self, signature: str) -> None:
        assert not is_known([self.BROKEN], "python.readline.line", failing(signature, 8193))


class TestRefusedArguments:
    """A method that takes no limit fails for a line with a newline, and for one without."""

    LISTED = replace(
        entry("python.readline.last", "py_readline: NULL"),
        program=Program(1, (Step("py_readline", (-1,)),)),
    )

    @staticmethod
    def failing_at(*steps: Step, signature: str = "py_readline: NULL") -> Counterexample:
        return Counterexample(Program(39, steps), (), "raised", identity=signature)

    @pytest.mark.parametrize("signature", ["py_readline: NULL", "py_readline: ILLEGAL_ARGUMENT"])
    def test_entry_covers_the_same_calls_on_a_file_with_other_content(self, signature: str) -> None:
        found = self.failing_at(Step("py_readline", (-1,)), signature=signature)
        listed = replace(self.LISTED, signature=signature)
        assert is_known([listed], "python.readline.line", found)

    def test_other_calls_and_other_exceptions_are_new(self) -> None:
        other_limit = self.failing_at(Step("py_readline", (2,)))
        after_read = self.failing_at(Step("read_byte"), Step("py_readline", (-1,)))
        other_error = self.failing_at(Step("py_readline", (-1,)), signature="py_readline: IO")
        for found in (other_limit, after_read, other_error):
            assert not is_known([self.LISTED], "python.readline.line", found)
        for signature in ("py_readline: IO", "py_readline: ILLEGAL_ARGUMENT; after a failed call"):
            listed = replace(self.LISTED, signature=signature)
            found = self.failing_at(Step("py_readline", (-1,)), signature=signature)
            assert not is_known([listed], "python.readline.line", found)


def test_scenarios_that_fail_in_the_same_way_are_one_item_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "known.yaml"
    entries = (
        Known("split.order", "as in Java", "scenario: plan; blocks less"),
        Known("split.order", "as in Java", "scenario: plan; blocks more"),
        Known("split.order", "as in Java", "scenario: large; blocks less"),
        Known("split.cover", "as in Java", "scenario: large; blocks less"),
        Known("split.cover", "as in Java", "scenario: plan"),
        SEEK,
    )
    save_known(path, entries)
    assert {*load_known(path)} == {*entries}
    text = path.read_text("utf-8")
    assert text.count("- clause:") == len(entries) - 1
    assert "signature: blocks less\n  scenarios:\n  - plan\n  - large\n" in text
