"""Scripts of the matrix's known failures pass on correct implementations of the same API."""

from __future__ import annotations

from pathlib import Path

import pytest

from fscontract.contract.script.calls import NoScript
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.languages import python_script
from fscontract.contract.spec.known_failures import Known, load_known
from fscontract.contract.spec.profiles import load_profile
from tests.findings.correct_targets import Correct, correct
from tests.script_runner import ScriptRunner

_KNOWN = Path(__file__).resolve().parents[2] / "benchmarks" / "matrix" / "known"
#: The API of known files, by the start of their names.
_APIS = {
    **dict.fromkeys(("fsspec", "s3fs", "sshfs"), "fsspec"),
    **dict.fromkeys(("bytesio", "open", "smart", "boto3"), "python-file"),
    **{api: api for api in ("pyarrow", "obstore", "opendal")},
}
_FILES = [p for p in sorted(_KNOWN.glob("*.yaml")) if p.stem.partition("-")[0] in _APIS]


@pytest.mark.parametrize("path", _FILES, ids=lambda path: path.stem)
def test_script_of_a_known_failure_passes_on_a_correct_implementation(
    path: Path, own_scripts: ScriptRunner, tmp_path: Path
) -> None:
    known = load_known(path)
    scripts = [_script(entry, correct(_api(path, entry), str(tmp_path))) for entry in known]
    assert any(scripts)
    ran = [own_scripts.run(script) for script in scripts if script]
    wrong = [done.output for done in ran if done.code]
    assert not wrong, "\n\n".join(wrong)


def _api(path: Path, entry: Known) -> str:
    return "async" if entry.clause.startswith("async.") else _APIS[path.stem.partition("-")[0]]


def _script(entry: Known, target: Correct) -> str:
    """Return the script of a known failure on a target; "" without a program or a script."""
    if entry.program is None or entry.clause.startswith("chain."):
        return ""
    observed = {"vector-io-overlapping-ranges": True}
    features = load_profile(target.binding.default_profile).as_observed(observed).features
    failure = Failure(entry.clause, entry.program, features, 4096, {})
    try:
        return target.changed(python_script(target.binding, target.source, failure))
    except NoScript:
        return ""
