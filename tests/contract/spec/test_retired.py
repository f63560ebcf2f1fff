"""Retired ids of clauses, and their replacements in old files."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from importlib.resources import files
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from jsonschema import Draft202012Validator

from fscontract.contract.check import check
from fscontract.contract.distributed.worker import request_of
from fscontract.contract.runner.result import Verdict
from fscontract.contract.runner.run_options import RunOptions
from fscontract.contract.spec import RenamedWarning
from fscontract.contract.spec import clauses as module
from fscontract.contract.spec.clauses import ClauseError, Retired, present, retired, select
from fscontract.contract.spec.known_failures import KnownError, load_known
from fscontract.contract.spec.profiles import load_profile
from fscontract.contract.targets import resolve_any
from tests.contract.cli.test_main import error, run
from tests.contract.conftest import FakeSuite
from tests.contract.report.matrices import judged, save
from tests.docs.generated_pages import reference_index
from tests.few_programs import run_few

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
SINCE = "since 0.2.0: clearer names"
WITHDRAWN = "seek.soft was withdrawn in 0.4.0: the text does not say it"


@pytest.fixture(autouse=True)
def _old(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some ids of old."""
    monkeypatch.setattr(module, "retired", lambda: OLD)


def _ids(*patterns: str) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RenamedWarning)
        return [clause.id for clause in select(patterns)]


def test_an_id_of_old_selects_what_has_taken_its_place() -> None:
    """Beside others, in their order."""
    with pytest.warns(RenamedWarning, match=RENAMED):
        assert [clause.id for clause in select(["seek.begin"])] == ["seek.zero"]
    assert _ids("seek.far", "seek.begin") == ["seek.zero", "seek.past-eof", "seek.at-len"]


def test_one_that_was_withdrawn_selects_nothing() -> None:
    """And says why."""
    with pytest.raises(ClauseError) as caught:
        select(["seek.soft"])
    assert str(caught.value) == WITHDRAWN


def test_groups_and_globs_mean_present_ids() -> None:
    """The old ids were not selected."""
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
    """With one line."""
    assert error("check", stub_target, "--clauses", "seek.soft") == WITHDRAWN


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("seek.begin", ("no clause since 0.2.0", "because     a plainer name", "seek.zero")),
        ("seek.soft", ("no clause since 0.4.0", "the text does not say it")),
    ],
)
def test_ids_of_old_can_be_explained(name: str, parts: tuple[str, ...]) -> None:
    """As long as an old report may contain one."""
    result = run("explain", name)
    assert result.exit_code == 0
    assert all(part in result.stdout for part in parts)


def _known(path: Path, *clauses: str) -> Path:
    entries = (f"- {{clause: {c}, reason: r, signature: s{n}}}" for n, c in enumerate(clauses))
    path.write_text("\n".join(("known:", *entries, "")))
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
    """Only its author can map a retired id to one of its successors, if there is one."""
    with pytest.raises(KnownError) as caught:
        load_known(_known(tmp_path / "k.yaml", clause))
    assert str(caught.value).endswith(f"known entry 1: {said}")


def test_a_baseline_may_have_ids_of_old(stub_target: str, suite: FakeSuite) -> None:
    """A renamed clause is the same one; for others the message describes the change."""
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
    said = module.notice(pattern)
    assert said.startswith(f"{pattern} is ")
    assert said.endswith(" since 0.2.0: clearer names")


@pytest.mark.parametrize("pattern", ["read*", "seek", "metadata.*", "meta*", "nothing"])
def test_patterns_of_present_names_keep_their_meaning(
    monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    """So `read*` selects the groups that begin so now."""
    monkeypatch.undo()
    assert module.notice(pattern) == ""


def test_commands_print_the_new_name_of_each_old_one_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, suite: FakeSuite, stub_target: str
) -> None:
    monkeypatch.undo()
    run_few(monkeypatch)
    _known(tmp_path / "k.yaml", "read1.eof", "read1.value", "read1.eof")
    monkeypatch.chdir(tmp_path)
    args = ("--known", "k.yaml", "--profile", "pyfile", "--clauses", "unbuf,read1.eof,unbuf")
    result = run("check", "--no-isolate", "memory", *args)
    assert result.stderr.splitlines() == [
        "fscontract: pyfile is python-file now",
        f"fscontract: unbuf is unbuffer {SINCE}",
        f"fscontract: read1.eof is read-byte.eof {SINCE}",
        f"fscontract: read1.value is read-byte.value {SINCE}",
    ]


def test_commands_print_the_new_names_of_old_ones_in_pyproject(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, suite: FakeSuite
) -> None:
    monkeypatch.undo()
    run_few(monkeypatch)
    _known(tmp_path / "k.yaml", "read1.eof")
    table = '[tool.fscontract]\nclauses = ["unbuf"]\nprofile = "pyfile"\nknown = "k.yaml"\n'
    table += '[[tool.fscontract.target]]\ntarget = "memory"\n'
    (tmp_path / "pyproject.toml").write_text(table)
    monkeypatch.chdir(tmp_path)
    assert run("check", "--no-isolate").stderr.splitlines() == [
        "fscontract: pyfile is python-file now",
        f"fscontract: unbuf is unbuffer {SINCE}",
        f"fscontract: read1.eof is read-byte.eof {SINCE}",
    ]


@pytest.mark.parametrize("spawned", [False, True])
def test_processes_of_a_target_do_not_print_old_names_again(tmp_path: Path, spawned: bool) -> None:
    """The profile is a file, which a process reads again: the one that the user started warns."""
    profile = tmp_path / "p.yaml"
    entry = "known: [{clause: read1.eof, reason: r, signature: s}]"
    profile.write_text(f"name: p\ntitle: P\nextends: pyfile\n{entry}\n")
    args = ["check", "memory", "--isolate", "--profile", str(profile), "--clauses", "unbuf", "-q"]
    never = "import fscontract.contract.isolation.process as p; p.can_fork = lambda: False; "
    start = f"import sys; {never if spawned else ''}sys.argv[0] = 'fscontract'; "
    code = start + "from fscontract.contract.cli.main import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, check=False
    )
    assert ended.stdout.startswith("memory: conforms")
    assert ended.stderr.splitlines() == [
        "fscontract: pyfile is python-file now",
        f"fscontract: read1.eof is read-byte.eof {SINCE}",
        f"fscontract: unbuf is unbuffer {SINCE}",
    ]


def test_check_warns_of_each_old_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As a library does, with warnings."""
    monkeypatch.undo()
    known = _known(tmp_path / "k.yaml", "read1.eof")
    with pytest.warns(RenamedWarning) as caught:
        check("memory", profile="pyfile", clauses="unbuf", known=known)
    assert {str(one.message) for one in caught} == {
        "pyfile is python-file now",
        f"unbuf is unbuffer {SINCE}",
        f"read1.eof is read-byte.eof {SINCE}",
    }


def test_check_warns_of_the_old_name_of_a_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    with pytest.warns(RenamedWarning, match="metadatatable is metadata-table now"):
        resolve_any("metadatatable", {})


def test_tasks_are_sent_the_present_names_of_clauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """So they warn of nothing."""
    run = RunOptions(clauses=("seek.far", "getpos"))
    request = request_of("memory", run, load_profile("reference"))
    assert request["run"]["clauses"] == ["seek.past-eof", "seek.at-len", "getpos"]


def test_an_id_that_is_a_clauses_stands_for_itself() -> None:
    """So does one that is not known, and one that is several now."""
    names = ("seek.zero", "what.ever", "seek.far", "seek.soft")
    assert [present(name) for name in names] == list(names)


def test_the_reference_lists_ids_of_old() -> None:
    """If there are any."""
    page = reference_index((), OLD.values())
    assert "## Retired ids" in page
    assert f"- {RENAMED}" in page
    assert "Retired ids" not in reference_index(())


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
