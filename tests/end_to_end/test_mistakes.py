"""One clear line for every mistake and every obstacle, no traceback, no secret."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Command

_FACTORY = """
def make():
    raise RuntimeError("no such bucket")

def nothing():
    return None
"""


@pytest.mark.parametrize(
    ("args", "code", "text"),
    [
        (("nosuch",), 2, "no target 'nosuch'; known: "),
        (("memory", "--clauses", "nosuch.clause"), 2, "no clause matches 'nosuch.clause'"),
        (("memory", "--effort", "huge"), 2, "'huge' is not one of 'quick', 'normal', 'deep'"),
        (("memory", "--seed", "x"), 2, "a whole number from 0, or 'random', not 'x'"),
        (("memory", "--profile", "nosuch"), 2, "nosuch"),
        (("memory", "--features", "nosuch"), 2, "nosuch"),
        (("memory", "--profile", "./bad.yaml"), 2, "bad.yaml: line "),
        (("memory", "--known", "bad.yaml"), 2, "bad.yaml: line 2, column 1: not YAML: "),
        (("memory", "--known", "none.yaml"), 2, "none.yaml: No such file or directory"),
        (("memory", "--junit", "no/such/dir.xml"), 2, "can't write no/such/dir.xml"),
        (("memory", "--faults", "quick"), 2, "its requests can't be made to fail; try fake, local"),
        (("memory", "--clauses", "fault.*"), 5, "those of faults need --faults"),
        (("memory", "--clauses", "read-into.short-ok"), 5, "no testable clause is selected"),
        (("./none.py:make",), 2, "none.py"),
        (("./factory.py:missing",), 2, "has no 'missing'"),
        (("./factory.py:nothing",), 2, "no binding for builtins.NoneType; accepted: "),
        (("nosuchmodule:make",), 2, "no module 'nosuchmodule'"),
        (("./factory.py:make",), 3, "RuntimeError: no such bucket (factory.py:3)"),
        (
            ("nosuch://host/x",),
            3,
            "can't be opened through fsspec: ValueError: Protocol not known: nosuch",
        ),
        (("file:///dev/null/x",), 3, "directory not found"),
        (
            ("zip://::file:///nowhere.zip",),
            3,
            "the filesystem is read-only; specify --file, the path of",
        ),
        (("http://127.0.0.1:1/",), 3, "the filesystem is read-only; specify --file"),
    ],
)
def test_a_mistake_is_one_line(
    args: tuple[str, ...], code: int, text: str, check: Command, place: Path
) -> None:
    """It says what and where, and what is allowed."""
    (place / "bad.yaml").write_text("features: [b\n")
    (place / "factory.py").write_text(_FACTORY)
    ended = check(*args)
    line = ended.mistake()
    assert text in line.replace(f"{place}/", "")
    assert ended.code == code


@pytest.mark.parametrize("option", ["--known", "--profile"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("known: " + "[" * 50_000, "nested more than 64 levels deep"),
        ("known: " + "9" * 5_000, "a number of more than 100 digits"),
        ("known: !!bool zz", "not true or false: 'zz'"),
        ("known: !!int abc", "not a whole number: 'abc'"),
        ("known: !!timestamp 2001-99-99", "the tag '!!timestamp' is not allowed"),
        ("known: &a [*a]", "no complete value has the anchor 'a'"),
    ],
    ids=["deep", "long", "bool", "int", "date", "anchor"],
)
def test_a_file_out_of_bounds_is_refused_in_one_line(
    option: str, text: str, said: str, check: Command, place: Path
) -> None:
    """With its line and column; the process does not crash."""
    (place / "bad.yaml").write_text(text)
    ended = check("memory", option, "./bad.yaml")
    assert ended.code == 2
    assert "bad.yaml: line 1, column " in ended.mistake()
    assert said in ended.mistake()


def test_a_profile_with_an_unknown_feature_names_it(check: Command, place: Path) -> None:
    """Before anything is run."""
    text = "name: mine\ntitle: Mine\nfeatures: {supports-seeks: true}\n"
    (place / "mine.yaml").write_text(text)
    ended = check("memory", "--profile", "./mine.yaml")
    assert ended.code == 2
    assert "supports-seeks" in ended.mistake()


def test_a_directory_without_permission_exits_3(check: Command, place: Path) -> None:
    """Nothing is left of the attempt."""
    source = """
        from fsspec.implementations.local import LocalFileSystem

        class ReadOnly(LocalFileSystem):
            def makedirs(self, path, exist_ok=False):
                raise PermissionError(13, "Permission denied", path)
        """
    (place / "mine.py").write_text("\n".join(line[8:] for line in source.splitlines()))
    ended = check("./mine.py:ReadOnly")
    assert ended.code == 3
    assert "can't be written: PermissionError: [Errno 13] Permission denied" in ended.mistake()


def test_a_server_that_is_not_there_exits_3(check: Command, copy: Path) -> None:
    """It is not called a missing file; neither password nor signature is shown."""
    ended = check(
        *("http://me:hunter2@127.0.0.1:1/d/?sig=SIGNED", "--file", "x", "--content", str(copy)),
    )
    assert ended.code == 3
    assert "can't be reached: " in ended.mistake()
    for secret in ("hunter2", "SIGNED"):
        assert secret not in ended.stdout + ended.stderr + str(ended.report)


@pytest.mark.parametrize("target", ["nosuch://me:hunter2@host/x", "file:///dev/null/x"])
def test_options_are_not_shown(target: str, check: Command) -> None:
    """Whatever goes wrong."""
    ended = check(target, "-o", "key=SECRETVALUE", "-o", "token=SECRETVALUE")
    assert ended.code == 3
    assert "hunter2" not in ended.stdout + ended.stderr
    assert "SECRETVALUE" not in ended.stdout + ended.stderr


def test_an_option_that_is_no_pair_is_not_repeated(check: Command) -> None:
    """It may be a secret."""
    ended = check("memory", "-o", "SECRETVALUE")
    assert ended.code == 2
    assert "SECRETVALUE" not in ended.mistake()


def test_nothing_verified_exits_5(check: Command, target: Path) -> None:
    """A clause that needs what is not declared is not a success."""
    ended = check(f"file://{target}", "--clauses", "new-source.same-data")
    assert ended.code == 5
    assert ended.outcomes() == {"new-source.same-data": "undeclared"}
    assert "no clause was verified" in ended.stdout


_DRIVING = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e\u2066\u200b\u2028"


@pytest.mark.parametrize(
    "args",
    [
        ("./bad.py:make",),
        (f"nosuch{_DRIVING}",),
        (f"nosuch://{_DRIVING}",),
        ("memory", "--known", "bad.yaml"),
        ("memory", "--known", f"{_DRIVING}.yaml"),
        ("memory", "--profile", "./bad.yaml"),
        ("memory", "--profile", f"{_DRIVING}"),
        ("memory", "--features", _DRIVING),
        ("memory", "--clauses", _DRIVING),
        ("memory", "--effort", _DRIVING),
    ],
    ids=ascii,
)
def test_what_others_wrote_does_not_drive_the_terminal(
    args: tuple[str, ...], check: Command, place: Path
) -> None:
    """Whether an exception says it, a file, or the command line."""
    (place / "bad.py").write_text(f"def make():\n    raise OSError({_DRIVING!r})\n")
    (place / "bad.yaml").write_text(f"name: {json.dumps(_DRIVING)}\n{json.dumps(_DRIVING)}: 1\n")
    ended = check(*args)
    assert ended.code in (2, 3)
    shown = (ended.stdout + ended.stderr).replace("\n", "")
    assert shown.isprintable(), ascii(shown)


def test_an_expired_entry_does_not_drive_the_terminal(check: Command, place: Path) -> None:
    """Its reason is shown."""
    entry = {"clause": "seek.zero", "reason": _DRIVING, "signature": "s", "until": "2020-01-01"}
    (place / "known.yaml").write_text(json.dumps({"known": [entry]}))
    ended = check("memory", "--known", "known.yaml", "--clauses", "seek.zero")
    assert "expired" in ended.stderr
    assert ended.stderr.replace("\n", "").isprintable()
