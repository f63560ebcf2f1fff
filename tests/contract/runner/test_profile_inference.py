"""`fscontract profile infer`: what it proposes, and that a check under that exits 0."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from textwrap import dedent

import pytest
from inline_snapshot import snapshot

from fscontract.contract.generate import call_sequences
from fscontract.contract.runner import counterexamples, shrink
from fscontract.contract.runner.profile_inference import (
    CAPABILITIES,
    CHOICES,
    UNOBSERVED,
    Run,
    infer,
)
from fscontract.contract.runner.result import ClauseResult, Counterexample, RunResult, Verdict
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.spec.known_failures import load_known
from fscontract.contract.spec.profiles import Profile, features, load_profile
from tests.contract.cli.test_main import error, run
from tests.few_programs import run_few

NOW = datetime(2026, 5, 4, tzinfo=timezone.utc)
#: Filesystems and files with defects.
DEFECTS = dedent(
    """
    import io
    from pathlib import Path
    from fsspec.implementations.memory import MemoryFile, MemoryFileSystem
    from fscontract.implementations.bindings.python_file import PythonFileBinding

    class Short(MemoryFileSystem):
        protocol = "short"
        def cat_file(self, path, start=None, end=None, **_):
            return super().cat_file(path, start, end)[:-1]
        def _open(self, path, mode="rb", **options):
            made = super()._open(path, mode, **options)
            return MemoryFile(self, path, made.getvalue()) if mode == "rb" else made

    class Forgetful(io.BytesIO):
        def tell(self):
            return 0 if self.closed else super().tell()
        def readline(self, limit=-1, /):
            return super().readline()

    def files(folder):
        return PythonFileBinding(lambda path: Forgetful(Path(path).read_bytes()), folder, "files")
    """
)


def behaving(outcome: Callable[[str, Profile], Verdict | str]) -> Run:
    """A target that clauses come out of so; a text is how one fails."""

    def run_it(profile: Profile) -> RunResult:
        found = []
        for clause in clauses().values():
            if clause.testable and not profile.satisfies(clause.needs):
                verdict = outcome(clause.id, profile)
                shown = None
                if not isinstance(verdict, Verdict):
                    shown = Counterexample(None, (), "", how=verdict)
                    verdict = Verdict.FAIL
                found.append(ClauseResult(clause, verdict, 1, shown))
        return RunResult("t", "stream", profile.name, "quick", 0, NOW, 1.0, tuple(found))

    return run_it


def declared(run_it: Run, base: str = "default", fixed: tuple[str, ...] = ()) -> set[str]:
    """The features that are proposed."""
    return set(infer(run_it, load_profile(base), fixed).profile.features)


def test_every_feature_is_observed_or_it_is_said_why_not() -> None:
    """In one of three tables."""
    assert {*CAPABILITIES, *CHOICES, *UNOBSERVED} == set(features())
    assert len(CAPABILITIES) + len(CHOICES) + len(UNOBSERVED) == len(features())


def test_what_works_is_declared() -> None:
    """All that can be observed, and of two sides of a choice that both hold that of the profile."""
    found = declared(behaving(lambda clause, profile: Verdict.PASS))
    assert found >= {*CAPABILITIES, *CHOICES} - {"openfile-first-read", "vector-io-early-eof-check"}
    assert found & UNOBSERVED.keys() <= load_profile("default").features


def test_what_nothing_shows_is_not_declared() -> None:
    """Though the profile has it."""
    found = declared(behaving(lambda clause, profile: Verdict.INEXPRESSIBLE), "reference")
    assert not found & CAPABILITIES.keys()


@pytest.mark.parametrize("how", ["skip: UNSUPPORTED", "skip: returned"])
def test_a_call_that_is_unsupported_is_no_defect(how: str) -> None:
    """But any other failure is, and hides nothing."""
    unsupported = how.endswith("UNSUPPORTED")
    broken = behaving(lambda clause, _: how if clause == "skip.advance" else Verdict.PASS)
    assert ("supports-skip" in declared(broken)) is not unsupported


def test_a_choice_is_taken_as_fewer_clauses_fail() -> None:
    """Here overlapping ranges are rejected, and beyond the end only one range fails."""
    wrong = {"read-vectored.overlap-allowed", "read-vectored.eof-early"}
    found = declared(behaving(lambda c, _: "x: returned" if c in wrong else Verdict.PASS))
    assert not found & {"vector-io-overlapping-ranges", "vector-io-early-eof-check"}


def test_a_choice_that_another_one_hid_is_made_later() -> None:
    """Declaring both lets both fail; with one of them mended the other shows."""

    def outcome(clause: str, profile: Profile) -> Verdict | str:
        early = profile.has("vector-io-early-eof-check")
        if clause in (
            "read-vectored.overlap-allowed",
            "read-vectored.eof-late",
            "read-vectored.good-ranges",
        ):
            return "read_vectored: returned"
        if clause == "read-vectored.eof-early" and profile.has("vector-io-overlapping-ranges"):
            return "read_vectored: returned" if early else Verdict.PASS
        return Verdict.PASS

    found = declared(behaving(outcome))
    assert "vector-io-overlapping-ranges" not in found
    assert "vector-io-early-eof-check" in found


def test_given_features_stay() -> None:
    """Whatever is observed."""
    passing = behaving(lambda clause, profile: Verdict.PASS)
    assert "supports-skip" not in declared(
        behaving(lambda c, p: Verdict.PASS), "python-file", ("rejects-seek-past-eof",)
    ) or "rejects-seek-past-eof" not in declared(passing, "python-file", ("rejects-seek-past-eof",))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """An empty directory, in which runs are of few programs; the name of a profile for that."""
    monkeypatch.setitem(call_sequences.REMOTE_PROGRAMS, "quick", 200)
    monkeypatch.setattr(shrink, "ATTEMPTS", 8)
    monkeypatch.setattr(counterexamples, "_ALIKE", 1)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "defects.py").write_text(DEFECTS)
    (tmp_path / "d").mkdir()
    return "remote.yaml"


@pytest.mark.parametrize(
    ("base", "target", "options"),
    [
        ("reference", "memory", ()),
        pytest.param("reference", "local", (), marks=pytest.mark.deep),
        pytest.param("fsspec", "defects.py:Short", (), marks=pytest.mark.deep),
        ("python-file", "defects.py:files", ("-o", "folder=d")),
    ],
)
def test_a_check_under_the_proposal_exits_0(
    base: str,
    target: str,
    options: tuple[str, ...],
    quick: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On the reference filesystems without a known failure, on others with theirs."""
    if base == "reference":  # an inference has many runs, and no defect is to be found
        run_few(monkeypatch)
    Path(quick).write_text(f"name: few\ntitle: Few\nextends: {base}\nremote: true\n")
    files = "--write", "p.yaml", "--known", "k.yaml"
    made = run("profile", "infer", target, *options, "--profile", quick, *files)
    assert made.exit_code == 0, made.output
    known = load_known(Path("k.yaml"))
    assert bool(known) is target.startswith("defects")
    assert {entry.reason for entry in known} <= {"observed by profile infer, not verified"}
    given = "--profile", "p.yaml", "--known", "k.yaml"
    checked = run("check", target, *options, *given)
    assert checked.exit_code == 0, checked.output
    profile = load_profile("p.yaml")
    assert profile.title.endswith("not verified")
    assert profile.remote is True
    if base == "reference":
        assert profile.features == load_profile(base).features


def test_defects_are_found_under_the_proposal(quick: str) -> None:
    """Violations are listed, and unknown feature is removed to hide them."""
    Path(quick).write_text("name: few\ntitle: Few\nextends: fsspec\nremote: true\n")
    made = run("profile", "infer", "defects.py:Short", "--profile", quick)
    assert made.exit_code == 0, made.output
    assert "  supports-positioned-readable: true" in made.stdout
    assert "  supports-io-statistics: false  # nothing shows it" in made.stdout
    assert "- clause: pread." in made.stdout
    assert "not verified" in made.stdout


def test_files_that_are_there_are_not_overwritten(tmp_path: Path, quick: str) -> None:
    """They may have been edited, so the error is reported before anything runs."""
    Path("p.yaml").write_text("mine")
    said = error("profile", "infer", "memory", "--write", "p.yaml")
    assert said == snapshot("p.yaml: already exists; remove it, or choose another path")
    assert Path("p.yaml").read_text() == "mine"


def test_a_profile_is_shown() -> None:
    """With each feature, and what else it says."""
    shown = run("profile", "show", "s3")
    assert shown.exit_code == 0
    assert shown.stdout.startswith("s3: fscontract's streams on S3 objects\n")
    assert "  yes       openfile-first-read" in shown.stdout
    assert "  no        supports-new-source" in shown.stdout
    assert "  observed  rejects-seek-past-eof" in run("profile", "show", "fsspec").stdout
    assert error("profile", "show", "s4").startswith("unknown profile 's4'")
