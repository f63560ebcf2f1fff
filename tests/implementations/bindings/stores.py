"""Helper of the tests of object store bindings."""

from __future__ import annotations

from fscontract.contract.binding import Binding


def life_of(binding: Binding) -> tuple[list[str], list[str], list[str]]:
    """Return `leftovers` before `prepare`, after it, and after `dispose`.

    Files are written, changed and deleted in between.
    """
    before = binding.leftovers()
    binding.prepare()
    during = binding.leftovers()
    path = binding.create(b"one")
    assert binding.status_length(path) == 3
    binding.change(path, b"other")
    assert binding.status_length(path) == 5
    binding.change(path, None)
    binding.create(b"left")
    binding.dispose()
    return before, during, binding.leftovers()
