"""Let the commands of a test run few programs: its directory is in their PYTHONPATH."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

_FEW = Path(__file__).resolve().parents[1] / "few_programs.py"
_RUNNER = "fscontract.contract.runner.runner"


class _Patch:
    """The methods of pytest's MonkeyPatch that `run_few` calls. A command needs no undo."""

    setattr = staticmethod(setattr)

    @staticmethod
    def setitem(items: Any, key: object, value: object) -> None:
        items[key] = value


class _AtImport(MetaPathFinder):
    """Replaces the programs when the runner is imported, so that other commands start as fast."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        if name == _RUNNER:
            sys.meta_path.remove(self)
            runpy.run_path(str(_FEW))["run_few"](_Patch)


if _RUNNER in sys.modules:  # in a fork
    runpy.run_path(str(_FEW))["run_few"](_Patch)
else:
    sys.meta_path.insert(0, _AtImport())
