"""The oldest versions that are tested are the oldest that are allowed."""

from __future__ import annotations

import re
from configparser import ConfigParser
from importlib.metadata import requires
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_tox_pins_every_lower_bound() -> None:
    """`oldest` installs exactly the lower bounds of the dependencies."""
    tox = ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini", encoding="utf-8")
    pins = dict(re.findall(r"(\S+)==(\S+)", tox["testenv:oldest"]["deps"]))
    needed = [r for r in requires("fscontract") or () if "extra ==" not in r]
    bounds = dict(re.findall(r"^([\w-]+)>=([\w.]+)(?:;.*)?$", "\n".join(needed), re.MULTILINE))
    assert len(bounds) == len(needed) > 0
    assert {name: _short(pins.get(name, "")) for name in bounds} == {
        name: _short(version) for name, version in bounds.items()
    }


def _short(version: str) -> str:
    return re.sub(r"(\.0)+$", "", version)
