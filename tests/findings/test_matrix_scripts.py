"""Scripts of the failures of targets of the matrix fail while the bugs are there."""

from __future__ import annotations

import shutil

import pytest

from benchmarks.matrix.scripts import USUAL, scripts_of
from benchmarks.matrix.targets import TARGETS, Target

_CHOSEN = [target for target in TARGETS if target.label in USUAL]


@pytest.mark.deep
@pytest.mark.parametrize("target", _CHOSEN, ids=lambda target: target.slug)
def test_scripts_of_all_failures_show_them(target: Target) -> None:
    if "hadoop" in target.target and shutil.which("java") is None:
        pytest.skip("needs Java")
    scripts = scripts_of(target)
    assert scripts.wrong == []
    assert scripts.shown > 0
    assert sum(scripts.missing.values()) <= scripts.shown // 4, scripts.missing
