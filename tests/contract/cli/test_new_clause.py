"""`fscontract new-clause` in a copy of the checkout."""

from __future__ import annotations

import shutil
from importlib.resources import files
from pathlib import Path

import pytest
import yaml
from inline_snapshot import snapshot
from jsonschema import Draft202012Validator

from tests.contract.cli.test_main import error, run

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of what the command reads; the current directory is below it."""
    for folder in ("specs", "contract", "fakes/mutants", "tests/contract/models"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path / "contract")
    return tmp_path


def written(checkout: Path, *args: str) -> dict[str, Path]:
    """The file of each part that the command says it wrote."""
    result = run("new-clause", *args)
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines() if line.startswith("wrote the ")]
    return {part.rstrip(":"): checkout / where.split(":")[0] for _, _, part, where in lines}


def contents(checkout: Path) -> dict[Path, bytes]:
    """Every file with its bytes."""
    return {p: p.read_bytes() for p in checkout.rglob("*") if p.is_file()}


def test_four_drafts_are_written_beside_clauses_of_the_group(checkout: Path) -> None:
    """The message names them in the order in which they are written."""
    before = contents(checkout)
    paths = written(checkout, "seek.twice")
    assert {part: path.relative_to(checkout).as_posix() for part, path in paths.items()} == {
        "entry": "specs/fsdatainputstream.yaml",
        "rule": "contract/models/seek.py",
        "mutant": "fakes/mutants/stream/seek.py",
        "tests": "tests/contract/models/test_seek.py",
    }
    assert {p for p, data in contents(checkout).items() if before.get(p) != data} == {
        *paths.values()
    }
    assert all("TODO" in path.read_text(encoding="utf-8") for path in paths.values())


@pytest.mark.parametrize("clause", ["seek.twice", "split.twice", "open.twice", "fault.twice"])
def test_the_entry_is_valid_and_the_drafts_compile(checkout: Path, clause: str) -> None:
    """In each kind of document; the rule and the mutant name the clause."""
    paths = written(checkout, clause)
    document = yaml.safe_load(paths["entry"].read_text(encoding="utf-8"))
    schema = yaml.safe_load(files("fscontract.specs").joinpath("schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(document)
    ids = [entry["id"] for entry in document["clauses"]]
    assert ids[ids.index(clause) - 1].split(".")[0] == clause.split(".", maxsplit=1)[0]
    for part in ("rule", "mutant", "tests"):
        source = paths[part].read_text(encoding="utf-8")
        compile(source, part, "exec")
        assert clause in source


def test_a_new_group_needs_its_document(checkout: Path) -> None:
    """With it, the drafts go to the files of that document; a group may have a hyphen."""
    assert error("new-clause", "new-group.eof").startswith(
        "unknown group 'new-group'; specify its document with --document; known: "
    )
    paths = written(checkout, "new-group.eof", "--document", "faults")
    assert paths["entry"].name == "faults.yaml"


def test_dry_run_writes_nothing(checkout: Path) -> None:
    """It prints the drafts."""
    before = contents(checkout)
    result = run("new-clause", "seek.twice", "--dry-run")
    assert "would write the entry: specs/fsdatainputstream.yaml:" in result.stdout
    assert "- id: seek.twice" in result.stdout
    assert contents(checkout) == before


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["seek.negative"], "the clause seek.negative exists; see 'fscontract explain'"),
        (["seek"], "invalid id: 'seek'; expected a group and a name in lower case, such as"),
        (["Seek.twice"], "invalid id: 'Seek.twice'; expected a group and a name"),
        (
            ["a.b", "--document", "opnfile"],
            "unknown document 'opnfile'; did you mean openfile or ",
        ),
        (["a.b", "--document", "zzz"], "unknown document 'zzz'; known: fsdatainputstream, "),
    ],
)
def test_an_unusable_id_or_document_is_one_line(
    checkout: Path, args: list[str], message: str
) -> None:
    """Exit code 2, and nothing is written."""
    before = contents(checkout)
    assert error("new-clause", *args).startswith(message)
    assert contents(checkout) == before


def test_a_retired_id_is_not_used_again(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names its replacement."""
    from fscontract.contract.spec import clauses

    old = clauses.Retired("seek.old", "0.2.0", "renamed", ("seek.pos",))
    monkeypatch.setattr(clauses, "retired", lambda: {"seek.old": old})
    message = error("new-clause", "seek.old")
    assert message == (
        snapshot("a retired id must not be reused: seek.old is seek.pos since 0.2.0: renamed")
    )


def test_a_directory_outside_a_checkout_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installation has no sources to add to."""
    monkeypatch.chdir(tmp_path)
    assert error("new-clause", "seek.twice").startswith("not a checkout of fscontract: ")
