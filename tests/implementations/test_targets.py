"""Tests of the named targets."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fscontract.contract.binding import Binding, TargetError
from fscontract.contract.program.outcome import returned
from fscontract.contract.program.program import Step
from fscontract.implementations.targets import local, memory


@pytest.mark.parametrize(
    ("target", "options"),
    [
        (memory, {}),
        (local, {}),
        (local, {"strategy": "portable"}),
        (local, {"strategy": "positioned"}),
    ],
)
def test_target_reads_its_files_and_leaves_nothing(
    target: Callable[[Mapping[str, str]], Binding],
    options: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All files are below a directory that is removed at the end."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    binding = target(options)
    binding.prepare()
    opened = binding.open(binding.create(b"abc"))
    assert binding.bind(Step("py_read", (-1,)))(opened) == returned(b"abc")
    binding.bind(Step("close"))(opened)
    assert list(tmp_path.iterdir()) or target is memory
    binding.dispose()
    assert not list(tmp_path.iterdir())


def test_reference_targets_have_every_feature() -> None:
    """Their profile declares every feature."""
    assert memory({}).default_profile == local({}).default_profile == "reference"


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        (memory, {"size": "1"}, "memory: unknown option 'size'; the target takes no options"),
        (local, {"stratgy": "x"}, "local: unknown option 'stratgy'; allowed options: strategy"),
        (
            local,
            {"strategy": "x"},
            "local: invalid value for strategy: 'x'; must be portable or positioned",
        ),
    ],
)
def test_invalid_option_error_names_allowed_values(
    target: Callable[[Mapping[str, str]], Binding], options: dict[str, str], message: str
) -> None:
    """One line: what, where, what is allowed."""
    with pytest.raises(TargetError) as caught:
        target(options)
    assert str(caught.value) == message
