"""Ids that clauses have no longer: what they stand for, wherever somebody still writes them."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from jsonschema import Draft202012Validator

from fscontract.contract.runner.result import Verdict
from fscontract.contract.spec import RenamedWarning
from fscontract.contract.spec import clauses as module
from fscontract.contract.spec.clauses import ClauseError, Retired, present, retired, select
from fscontract.contract.spec.known_failures import KnownError, load_known
from tests.contract.cli.test_main import error, run
from tests.contract.conftest import FakeSuite
from tests.contract.report.matrices import judged, save
from tests.docs.generated_pages import reference_index

OLD = {
    one.id: one
    for one in (
        Retired("seek.begin", "0.2.0", "a plainer name", ("seek.zero",)),
        Retired("seek.far", "0.3.0", "it said two things", ("seek.past-eof", "seek.at-len")),
        Retired("seek.soft", "0.4.0", "the text does not say it"),
    )
}
RENAMED = "seek.begin is seek.zero since 0.2.0: a plainer name"
SPLIT = "seek.far is seek.past-eof and seek.at-len since 0.3.0: it said two things"
WITHDRAWN = "seek.soft was withdrawn in 0.4.0: the text does not say it"


@pytest.fixture(autouse=True)
def _old(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some ids of old."""
    monkeypatch.setattr(module, "retired", lambda: OLD)


def _ids(*patterns: str) -> list[str]:
    return [clause.id for clause in select(patterns)]


def test_an_id_of_old_selects_what_has_taken_its_place() -> None:
    """Beside others, in their order."""
    assert _ids("seek.begin") == ["seek.zero"]
    assert _ids("seek.far", "seek.begin") == ["seek.zero", "seek.past-eof", "seek.at-len"]


def test_one_that_was_withdrawn_selects_nothing() -> None:
    """And says why."""
    with pytest.raises(ClauseError) as caught:
        select(["seek.soft"])
    assert str(caught.value) == WITHDRAWN


def test_groups_and_globs_mean_present_ids() -> None:
    """Nobody asked for the old ones."""
    assert "seek.begin" not in _ids("seek")
    with pytest.raises(ClauseError, match="no clause matches"):
        select(["*.begin"])


def test_the_command_says_what_it_takes_an_id_for(stub_target: str, suite: FakeSuite) -> None:
    """On stderr, and once."""
    result = run("check", stub_target, "--clauses", "seek.begin,seek.far", "--quiet")
    assert (result.exit_code, result.stdout) == (0, "stub: conforms: 3 clauses hold\n")
    assert result.stderr.splitlines() == [f"fscontract: {RENAMED}", f"fscontract: {SPLIT}"]
    assert run("list", "seek.begin").stderr == f"fscontract: {RENAMED}\n"


def test_the_command_refuses_one_that_was_withdrawn(stub_target: str, suite: FakeSuite) -> None:
    """Once as a notice, once as the error."""
    result = run("check", stub_target, "--clauses", "seek.soft")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1] == f"fscontract: error: {WITHDRAWN}"


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("seek.begin", ("no clause since 0.2.0", "because     a plainer name", "seek.zero")),
        ("seek.soft", ("no clause since 0.4.0", "the text does not say it")),
    ],
)
def test_ids_of_old_can_be_explained(name: str, parts: tuple[str, ...]) -> None:
    """As long as somebody may meet one in an old report."""
    result = run("explain", name)
    assert result.exit_code == 0
    assert all(part in result.stdout for part in parts)


def _known(path: Path, clause: str) -> Path:
    path.write_text(f"known:\n- {{clause: {clause}, reason: r, signature: s}}\n")
    return path


def test_a_known_failure_of_a_renamed_clause_goes_on_being_known(tmp_path: Path) -> None:
    """Under the id of now, with a warning."""
    with pytest.warns(RenamedWarning, match=RENAMED):
        (entry,) = load_known(_known(tmp_path / "k.yaml", "seek.begin"))
    assert entry.clause == "seek.zero"


@pytest.mark.parametrize(("clause", "said"), [("seek.far", SPLIT), ("seek.soft", WITHDRAWN)])
def test_a_known_failure_that_could_be_of_several_clauses_is_refused(
    clause: str, said: str, tmp_path: Path
) -> None:
    """Which of them it is, its author knows; and so of one that is nobody's now."""
    with pytest.raises(KnownError) as caught:
        load_known(_known(tmp_path / "k.yaml", clause))
    assert str(caught.value).endswith(f"known entry 1: {said}")


def test_a_baseline_may_have_ids_of_old(stub_target: str, suite: FakeSuite) -> None:
    """A renamed clause is the same one; of others it is said what became of them."""
    save(Path("old.json"), judged({"seek.begin": "fail", "seek.soft": "pass"}, "stub"))
    suite.outcomes["seek.zero"] = Verdict.PASS
    result = run("check", stub_target, "--clauses", "seek.zero", "-q", "--baseline", "old.json")
    assert result.exit_code == 1
    _, _, vanished, fixed, last = result.stdout.splitlines()
    assert vanished.split() == f"vanished stub: seek.soft: {WITHDRAWN} (pass before)".split()
    assert fixed.split()[:3] == ["fixed", "stub:", "seek.zero:"]
    assert last == snapshot("  0 new, 1 vanished, 1 fixed, 0 clauses fail as before")


def test_a_replay_file_may_have_an_id_of_old(tmp_path: Path) -> None:
    """It is of the clause that has its place, or of none."""
    path = tmp_path / "r.json"
    program = {"length": 3, "steps": [["seek", 0]]}
    data = {"fscontract-replay": 1, "clause": "seek.begin", "program": program}
    path.write_text(json.dumps(data))
    assert run("replay", str(path), "memory").stdout.startswith("seek.zero: passes now\n")
    path.write_text(json.dumps({**data, "clause": "seek.soft"}))
    assert error("replay", str(path), "memory") == f"{path}: {WITHDRAWN}"


@pytest.mark.parametrize(
    ("pattern", "ids"),
    [
        ("read1.eof", ("read-byte.eof",)),
        ("unbuf", ("unbuffer",)),
        ("full*", ("read-fully*",)),
        ("vread.*eof*", ("read-vectored.*eof*",)),
        ("pythonio", ("python-file",)),
        ("bb*.eof", ("bytebuffer.eof", "bytebuffer-pread.eof", "bytebuffer-read-fully.eof")),
    ],
)
def test_old_names_of_groups_and_documents_select_the_clauses_of_the_new(
    monkeypatch: pytest.MonkeyPatch, pattern: str, ids: tuple[str, ...]
) -> None:
    """With a notice of the new name."""
    monkeypatch.undo()
    assert _ids(pattern) == _ids(*ids)
    (notice,) = module.notices([pattern])
    assert notice.startswith(f"{pattern} is ")
    assert notice.endswith(" since 0.2.0: clearer names")


@pytest.mark.parametrize("pattern", ["read*", "seek", "metadata.*", "meta*", "nothing"])
def test_patterns_of_present_names_keep_their_meaning(
    monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    """So `read*` selects the groups that begin so now."""
    monkeypatch.undo()
    assert module.notices([pattern]) == []


def test_commands_print_the_new_name_of_each_old_one_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, suite: FakeSuite, stub_target: str
) -> None:
    monkeypatch.undo()
    entry = "{clause: read1.eof, reason: r, signature: %s}"
    known = tmp_path / "k.yaml"
    known.write_text(f"known: [{entry % 'a'}, {entry % 'b'}]\n")
    monkeypatch.chdir(tmp_path)
    result = run("check", "--no-isolate", "memory", "--known", str(known), "--profile", "pyfile")
    assert result.stderr.splitlines() == snapshot(
        [
            "fscontract: pyfile is python-file now",
            "fscontract: read1.eof is read-byte.eof since 0.2.0: clearer names",
        ]
    )


def test_an_id_that_is_a_clauses_stands_for_itself() -> None:
    """So does one that is not known, and one that is several now."""
    names = ("seek.zero", "what.ever", "seek.far", "seek.soft")
    assert [present(name) for name in names] == list(names)


def test_the_reference_lists_ids_of_old() -> None:
    """If there are any."""
    page = reference_index((), OLD.values())
    assert "## Ids of old" in page
    assert f"- {RENAMED}" in page
    assert "Ids of old" not in reference_index(())


def test_a_document_declares_them_in_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """With since when and why, which the schema asks for."""
    monkeypatch.undo()
    schema = json.loads(files("fscontract.specs").joinpath("schema.json").read_text("utf-8"))
    entry = {"id": "seek.begin", "since": "0.2.0", "reason": "a plainer name"}
    checked = Draft202012Validator({**schema["$defs"]["retired"], "$defs": schema["$defs"]})
    assert checked.is_valid({**entry, "instead": ["seek.zero"]})
    assert not any(checked.is_valid({k: v for k, v in entry.items() if k != key}) for key in entry)
    assert not checked.is_valid({**entry, "since": "0.2"})
    retired.cache_clear()
    data = [{"retired": [{**entry, "instead": ["seek.zero"]}]}, {}]
    monkeypatch.setattr(module, "_data", lambda: data)
    assert retired()["seek.begin"] == OLD["seek.begin"]
    retired.cache_clear()
