"""One clear line for every mistake and every obstacle, no traceback, no secret."""

from __future__ import annotations

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
        (("memory", "--known", "bad.yaml"), 2, "bad.yaml: not YAML: "),
        (("memory", "--known", "none.yaml"), 2, "none.yaml: No such file or directory"),
        (("memory", "--junit", "no/such/dir.xml"), 2, "can't write no/such/dir.xml"),
        (("memory", "--faults", "quick"), 2, "its requests can't be made to fail; try fake, local"),
        (("memory", "--clauses", "fault.*"), 5, "those of faults need --faults"),
        (("memory", "--clauses", "readb.short-ok"), 5, "no testable clause is selected"),
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
        (("file:///dev/null/x",), 3, "there is no such directory"),
        (("zip://::file:///nowhere.zip",), 3, "can't be written; give --file, the path of"),
        (("http://127.0.0.1:1/",), 3, "can't be written; give --file"),
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
    ended = check(f"file://{target}", "--clauses", "stns.same-data")
    assert ended.code == 5
    assert ended.outcomes() == {"stns.same-data": "undeclared"}
    assert "no clause was verified" in ended.stdout
