"""docs/explanation/architecture.md names what there is."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")


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
