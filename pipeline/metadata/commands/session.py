"""Where the tables of datasets are, as `fscontract metadata set` keeps it."""

from __future__ import annotations

import json
from pathlib import Path

from fscontract.contract.targets import UsageError, mask_url
from fscontract.pipeline.metadata.safe_avro import parse_json

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
    try:
        found = parse_json(_FILE.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(f"{_FILE} can't be read ({error})") from error
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        raise UsageError(f"{_FILE} is not what `fscontract metadata set` writes")
    return found
