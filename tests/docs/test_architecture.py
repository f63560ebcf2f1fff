"""docs/ARCHITECTURE.md names what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
#: Each folder of the list of modules with the text of its entry.
ENTRIES = dict(re.findall(r"^- \*\*([\w/]+)/\*\*: ((?:.+\n)(?:  .+\n)*)", TEXT, re.MULTILINE))


def _modules(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("*.py")} - {"__init__"}


#: Folders all of whose modules are listed.
LISTED = sorted(
    path.relative_to(ROOT).as_posix()
    for top in ("contract", "implementations", "pipeline")
    for path in [ROOT / top, *(ROOT / top).rglob("*")]
    if path.is_dir() and _modules(path)
)


@pytest.mark.parametrize("folder", LISTED)
def test_every_module_is_named(folder: str) -> None:
    """Each in the entry of its folder."""
    assert _modules(ROOT / folder) - _names(folder) == set()


@pytest.mark.parametrize("folder", sorted(ENTRIES))
def test_every_named_module_exists(folder: str) -> None:
    """No entry speaks of a module that is gone."""
    assert _names(folder) - _modules(ROOT / folder) == set()


def test_every_folder_of_the_house_is_drawn() -> None:
    """The picture at the top has each of them, and no other."""
    drawn = set(re.findall(r"^([\w/]+)/ ", TEXT, re.MULTILINE))
    tops = {p.name for p in ROOT.iterdir() if p.is_dir() and (p / "__init__.py").is_file()}
    assert tops <= drawn
    assert [name for name in drawn if not (ROOT / name).is_dir()] == []


def test_every_path_in_the_text_exists() -> None:
    """Files and folders in backticks are there."""
    paths = re.findall(r"`((?:[\w-]+/)+[\w*-]+(?:\.\w+)?)`", TEXT)
    assert len(paths) > 10
    assert [path for path in paths if not list(ROOT.glob(path))] == []


def _names(folder: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", ENTRIES.get(folder, "")))
