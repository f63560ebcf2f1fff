"""Clauses are selected by id, group, document or glob."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.program import Program, Step
from fscontract.contract.spec.clauses import (
    ClauseError,
    Cost,
    Level,
    clauses,
    documents,
    near_misses,
    select,
)


def _chosen(*patterns: str) -> list[str]:
    return [c.id for c in select(patterns)]


def test_an_id_selects_its_clause() -> None:
    """And no other."""
    assert _chosen("seek.zero") == ["seek.zero"]


def test_a_prefix_selects_at_a_dot_only() -> None:
    """`bytebuffer` is a group, not the start of bytebuffer-pread."""
    assert _chosen("bytebuffer")
    assert {clause.split(".")[0] for clause in _chosen("bytebuffer")} == {"bytebuffer"}


def test_a_documents_name_selects_its_clauses() -> None:
    """All of them, in file order."""
    assert _chosen("fsdatainputstream") == [
        c.id for c in clauses().values() if c.document == "fsdatainputstream"
    ]


def test_a_glob_selects_over_groups() -> None:
    """A star also stands for dots."""
    assert _chosen("bytebuffer*.eof") == [
        "bytebuffer.eof",
        "bytebuffer-pread.eof",
        "bytebuffer-read-fully.eof",
    ]


def test_several_patterns_select_in_file_order_without_doubles() -> None:
    """Whatever the order of the patterns."""
    assert _chosen("seek.pos", "close.state", "seek.p*") == [
        "close.state",
        "seek.past-eof",
        "seek.pos",
    ]


def test_no_pattern_selects_every_clause() -> None:
    """A selection that was not made leaves nothing out."""
    assert _chosen() == [*clauses()]


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("seek.negatve", "did you mean seek.negative"),
        ("sek", "did you mean seek"),
        ("fsdatainputsteam", "did you mean fsdatainputstream"),
        ("pread.", "did you mean pread"),
        ("zzz.*", "a group (model, open, close"),
        ("", "expected an id such as model.finite"),
    ],
)
def test_a_pattern_that_matches_nothing_is_refused_in_one_line(pattern: str, says: str) -> None:
    """The message names the pattern and what is near, or what there is."""
    with pytest.raises(ClauseError) as caught:
        select(["seek.zero", pattern])
    message = str(caught.value)
    assert message.startswith(f"no clause matches {pattern!r}; ")
    assert says in message
    assert "\n" not in message


def test_a_clause_holds_what_its_entry_says() -> None:
    """Lists become tuples, the level an enumeration, examples programs."""
    clause = clauses()["seek.past-eof"]
    assert clause.level is Level.MUST
    assert clause.section == "Seekable.seek(s)"
    assert clause.document == "fsdatainputstream"
    assert clause.needs == ("supports-seek", "rejects-seek-past-eof")
    assert clause.checks == ("model.seek",)
    assert "F1" in clause.refs
    assert clause.examples[0].program == Program(5, (Step("seek", ("len+1",)),))
    assert clause.examples[0].expect == ({"raises": ["EOF", "IO"]},)


def test_an_example_may_open_its_file_through_a_builder() -> None:
    """The scene is a file by default, and the calls are in order."""
    opened = [e.program.opening for e in clauses()["open.deferred-state"].examples]
    policy = ("opt", "fs.option.openfile.read.policy", "random")
    assert opened == [Opening("late"), Opening("late", (policy,))]
    found = clauses()["open.status-filename-only"].examples[0].program.opening
    assert found == Opening("file", (("with_file_status", "parents", None),))
    assert clauses()["seek.zero"].examples[0].program.opening is None


def test_a_cost_says_what_is_metered_and_what_is_not() -> None:
    """Steps before the metered ones, and the most that may be counted by policy."""
    assert clauses()["open.buffer-size-used"].cost == Cost(
        length=65536,
        calls=(("buffer_size", 65536),),
        before=(Step("read_byte"),),
        steps=(Step("read_into", (60000, 0, 60000)),),
        meter="requests",
        budget={"default": 0},
    )


def test_a_cost_without_steps_before_is_metered_from_the_opening_on() -> None:
    """An empty list of them would be metered from after it."""
    cost = clauses()["open.cost-unread"].cost
    assert cost is not None
    assert (cost.before, cost.calls, cost.steps) == (None, (), ())


def test_a_cost_may_be_exact() -> None:
    """A counter that counts too little is as wrong as one that counts too much."""
    cost = clauses()["open.statistics"].cost
    assert cost is not None
    assert (cost.exact, cost.budget) == (True, {"default": 34})


def test_the_steps_of_a_cost_may_be_repeated() -> None:
    """A whole file is read without writing every read down."""
    cost = clauses()["open.cost-whole-file"].cost
    assert cost is not None
    assert cost.steps == (Step("read_into", (65536, 0, 65536)),) * 64


def test_the_stream_document_comes_first() -> None:
    """The others build on it."""
    assert next(iter(documents())) == "fsdatainputstream"
    assert documents()["fsdatainputstream"].source.startswith("Hadoop filesystem specification")


def test_clauses_can_be_members_of_sets() -> None:
    """Though their examples hold dictionaries."""
    assert len(set(clauses().values())) == len(clauses())


def test_a_level_prints_as_its_word() -> None:
    """In reports as in messages."""
    assert f"{Level.SHOULD}" == "SHOULD"


def test_nothing_near_gives_no_hint() -> None:
    """The hint is empty, so a message can simply end with it."""
    assert near_misses("zzz", ["seek", "read"]) == ""


def test_clauses_load_without_the_libraries_that_take_long_to_import() -> None:
    """The command line starts at once."""
    code = (
        "import sys; from fscontract.contract.spec.clauses import clauses; clauses();"
        "print(sorted({'jsonschema', 'hypothesis', 'pytest', 'rich'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
