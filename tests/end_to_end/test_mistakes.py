"""Mistakes and obstacles are one clear line without traceback and secrets."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.end_to_end.conftest import Command

_FACTORY = """
def make():
    raise RuntimeError("no such bucket")

def nothing():
    return None
"""


#: Arguments of `check`, and the exit code.
MISTAKES = {
    "unknown target": (("nosuch",), 2),
    "unknown clause": (("memory", "--clauses", "nosuch.clause"), 2),
    "unknown effort": (("memory", "--effort", "huge"), 2),
    "bad seed": (("memory", "--seed", "x"), 2),
    "unknown profile": (("memory", "--profile", "nosuch"), 2),
    "unknown feature": (("memory", "--features", "nosuch"), 2),
    "bad profile": (("memory", "--profile", "./bad.yaml"), 2),
    "bad known file": (("memory", "--known", "bad.yaml"), 2),
    "missing known file": (("memory", "--known", "none.yaml"), 2),
    "missing directory of a report": (("memory", "--junit", "no/such/dir.xml"), 2),
    "target without faults": (("memory", "--faults", "quick"), 2),
    "clauses of faults alone": (("memory", "--clauses", "fault.*"), 5),
    "untestable clause": (("memory", "--clauses", "read-into.short-ok"), 5),
    "missing file": (("./none.py:make",), 2),
    "missing name in a file": (("./factory.py:missing",), 2),
    "factory of nothing": (("./factory.py:nothing",), 2),
    "missing module": (("nosuchmodule:make",), 2),
    "factory that raises": (("./factory.py:make",), 3),
    "unknown protocol": (("nosuch://host/x",), 3),
    "directory below a file": (("file:///dev/null/x",), 3),
    "missing archive": (("zip://::file:///nowhere.zip",), 3),
    "unreachable server": (("http://127.0.0.1:1/",), 3),
}
#: Where the words of another library begin, which differ from version to version.
_FOREIGN = ("not YAML: ", "through fsspec: ", "'--effort': ")
MESSAGES: dict[str, str] = snapshot(
    {
        "unknown target": "unknown target 'nosuch'; known: ...",
        "unknown clause": (
            "no clause matches 'nosuch.clause'; expected an id such as model.finite, a "
            "glob, a document (...) or a group (...)"
        ),
        "unknown effort": "Invalid value for '--effort': ...",
        "bad seed": "Invalid value for '--seed': expected a whole "
        "number from 0, or 'random'; got 'x'",
        "unknown profile": "unknown profile 'nosuch': neither a file nor one of ...",
        "unknown feature": "unknown feature 'nosuch'; known: ...",
        "bad profile": "./bad.yaml: line 2, column 1: not YAML: ...",
        "bad known file": "bad.yaml: line 2, column 1: not YAML: ...",
        "missing known file": "none.yaml: No such file or directory",
        "missing directory of a report": "can't write no/such/dir.xml: No such file or directory",
        "target without faults": (
            "memory: faults are not supported; supported by: fake, local, s3, fsspec filesystems, "
            "and a Binding with an injector"
        ),
        "clauses of faults alone": (
            "no testable clause is selected; see 'fscontract list' (those of faults need "
            "--faults, those of server-faults --server-faults)"
        ),
        "untestable clause": (
            "no testable clause is selected; see 'fscontract list' (those of faults need "
            "--faults, those of server-faults --server-faults)"
        ),
        "missing file": "file not found: 'none.py'",
        "missing name in a file": "./factory.py:missing: 'missing' not found in ./factory.py",
        "factory of nothing": (
            "./factory.py:nothing: unsupported type builtins.NoneType; accepted: ..."
        ),
        "missing module": "nosuchmodule:make: module not found: 'nosuchmodule'",
        "factory that raises": "./factory.py:make: RuntimeError: no such bucket (factory.py:3)",
        "unknown protocol": "nosuch://host/x: can't be opened through fsspec: ...",
        "directory below a file": "file:///dev/null/x: directory not found",
        "missing archive": (
            "zip://::file:///nowhere.zip: the filesystem is read-only; specify --file, the "
            "path of an existing file, and --content, a local copy of that file"
        ),
        "unreachable server": (
            "http://127.0.0.1:1/: the filesystem is read-only; specify --file, the path of "
            "an existing file, and --content, a local copy of that file"
        ),
    }
)


def normalised(line: str, place: Path) -> str:
    """Return a message without places, long lists, and the words of other libraries."""
    line = line.replace(f"{place}/", "")
    for words in _FOREIGN:
        head, found, _ = line.partition(words)
        line = f"{head}{words}..." if found else line
    line = re.sub(r"(known: |accepted: |one of )\S.*", r"\1...", line)
    return re.sub(r"\([^()]*(?:, [^()]*){4,}\)", "(...)", line)


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_is_one_line_with_its_exit_code(name: str, check: Command, place: Path) -> None:
    args, code = MISTAKES[name]
    (place / "bad.yaml").write_text("features: [b\n")
    (place / "factory.py").write_text(_FACTORY)
    ended = check(*args)
    assert ended.code == code
    assert normalised(ended.mistake(), place) == MESSAGES[name]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("memory", "--effort", "huge"), "'huge' is not one of 'quick', 'normal', 'deep'"),
        (("nosuch://host/x",), "Protocol not known: nosuch"),
    ],
)
def test_words_of_other_libraries_are_part_of_the_line(
    args: tuple[str, ...], words: str, check: Command
) -> None:
    assert words in check(*args).mistake()


BOUNDS = {
    "deep": "known: " + "[" * 50_000,
    "long": "known: " + "9" * 5_000,
    "bool": "known: !!bool zz",
    "int": "known: !!int abc",
    "date": "known: !!timestamp 2001-99-99",
    "anchor": "known: &a [*a]",
}
REFUSALS: dict[str, str] = snapshot(
    {
        "deep": "bad.yaml: line 1, column 71: nested more than 64 levels deep",
        "long": "bad.yaml: line 1, column 8: a number of more than 100 digits",
        "bool": "bad.yaml: line 1, column 8: expected true or false, got 'zz'",
        "int": "bad.yaml: line 1, column 8: expected a whole number, got 'abc'",
        "date": "bad.yaml: line 1, column 8: the tag '!!timestamp' is not allowed",
        "anchor": "bad.yaml: line 1, column 12: no complete value has the anchor 'a'",
    }
)


@pytest.mark.parametrize("option", ["--known", "--profile"])
@pytest.mark.parametrize("name", BOUNDS)
def test_yaml_out_of_bounds_is_refused_with_line_and_column(
    option: str, name: str, check: Command, place: Path
) -> None:
    (place / "bad.yaml").write_text(BOUNDS[name])
    ended = check("memory", option, "./bad.yaml")
    assert ended.code == 2
    assert ended.mistake().removeprefix("./").removeprefix(f"{place}/") == REFUSALS[name]


def test_unknown_feature_in_a_profile_is_named(check: Command, place: Path) -> None:
    text = "name: mine\ntitle: Mine\nfeatures: {supports-seeks: true}\n"
    (place / "mine.yaml").write_text(text)
    ended = check("memory", "--profile", "./mine.yaml")
    assert ended.code == 2
    assert "supports-seeks" in ended.mistake()


def test_directory_without_permission_exits_3(check: Command, place: Path) -> None:
    source = """
        from fsspec.implementations.local import LocalFileSystem

        class ReadOnly(LocalFileSystem):
            def makedirs(self, path, exist_ok=False):
                raise PermissionError(13, "Permission denied", path)
        """
    (place / "mine.py").write_text("\n".join(line[8:] for line in source.splitlines()))
    ended = check("./mine.py:ReadOnly")
    assert ended.code == 3
    line = re.sub(r"/\S*", "PATH", ended.mistake().replace(f"{place}/", ""))
    assert "PermissionError" in line
    assert line == snapshot(
        ".PATH can't be written: PermissionError: [Errno 13] Permission denied: 'PATH (mine.py:6)"
    )


def test_unreachable_server_exits_3_without_secrets(check: Command, copy: Path) -> None:
    """It is not reported as a missing file."""
    ended = check(
        *("http://me:hunter2@127.0.0.1:1/d/?sig=SIGNED", "--file", "x", "--content", str(copy)),
    )
    assert ended.code == 3
    assert "can't be reached: " in ended.mistake()
    for secret in ("hunter2", "SIGNED"):
        assert secret not in ended.stdout + ended.stderr + str(ended.report)


@pytest.mark.parametrize("target", ["nosuch://me:hunter2@host/x", "file:///dev/null/x"])
def test_options_are_not_shown_in_errors(target: str, check: Command) -> None:
    ended = check(target, "-o", "key=SECRETVALUE", "-o", "token=SECRETVALUE")
    assert ended.code == 3
    assert "hunter2" not in ended.stdout + ended.stderr
    assert "SECRETVALUE" not in ended.stdout + ended.stderr


def test_option_without_equals_sign_is_not_repeated(check: Command) -> None:
    """It may be a secret."""
    ended = check("memory", "-o", "SECRETVALUE")
    assert ended.code == 2
    assert "SECRETVALUE" not in ended.mistake()


def test_run_that_verifies_nothing_exits_5(check: Command, target: Path) -> None:
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
def test_control_characters_of_targets_files_and_arguments_are_escaped(
    args: tuple[str, ...], check: Command, place: Path
) -> None:
    (place / "bad.py").write_text(f"def make():\n    raise OSError({_DRIVING!r})\n")
    (place / "bad.yaml").write_text(f"name: {json.dumps(_DRIVING)}\n{json.dumps(_DRIVING)}: 1\n")
    ended = check(*args)
    assert ended.code in (2, 3)
    shown = (ended.stdout + ended.stderr).replace("\n", "")
    assert shown.isprintable(), ascii(shown)


def test_control_characters_of_an_expired_entry_are_escaped(check: Command, place: Path) -> None:
    entry = {"clause": "seek.zero", "reason": _DRIVING, "signature": "s", "until": "2020-01-01"}
    (place / "known.yaml").write_text(json.dumps({"known": [entry]}))
    ended = check("memory", "--known", "known.yaml", "--clauses", "seek.zero")
    assert "expired" in ended.stderr
    assert ended.stderr.replace("\n", "").isprintable()
