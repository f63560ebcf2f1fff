"""Where the tables of datasets are, as `fscontract metadata set` keeps it."""

from __future__ import annotations

import json
from pathlib import Path

from fscontract.contract.masking import mask_url
from fscontract.contract.targets import UsageError
from fscontract.contract.untrusted import UntrustedError, load_json

_FILE = Path(".fscontract") / "metadata.json"


def remember(url: str, directory: str | None) -> None:
    """Keep the directory for the table of a dataset; forget it if there is none. UsageError."""
    known = _known()
    if directory is None:
        known.pop(mask_url(url), None)
    else:
        known[mask_url(url)] = directory
    try:
        _FILE.parent.mkdir(exist_ok=True)
        _FILE.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"can't write {_FILE}: {error.strerror or error}") from error


def remembered(url: str) -> str | None:
    """The directory for the table of a dataset, None for that in the dataset. UsageError."""
    return _known().get(mask_url(url))


def _known() -> dict[str, str]:
    if not _FILE.exists():
        return {}
    try:
        found = load_json(_FILE)
    except UntrustedError as error:
        raise UsageError(str(error)) from None
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        raise UsageError(f"{_FILE} is not what `fscontract metadata set` writes")
    return found
