"""The features and the shipped profiles are well formed."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from fscontract.contract.spec.clauses import clauses
from fscontract.contract.spec.profiles import features, load_profile, profile_names
from fscontract.contract.untrusted import parse_yaml

SPECS = Path(str(files("fscontract.specs")))


@pytest.mark.parametrize("name", profile_names())
def test_a_shipped_profile_keeps_to_the_schema(name: str) -> None:
    """It reads the same when it is given as a file, where every fault is reported."""
    path = SPECS / "profiles" / f"{name}.yaml"
    schema = json.loads((SPECS / "profile.schema.json").read_text(encoding="utf-8"))
    data = parse_yaml(path.read_text(encoding="utf-8"))
    assert list(Draft202012Validator(schema).iter_errors(data)) == []
    assert load_profile(str(path)) == load_profile(name)


@pytest.mark.parametrize("name", profile_names())
def test_a_shipped_profile_is_named_after_its_file(name: str) -> None:
    """Reports name the profile as the user did."""
    assert load_profile(name).name == name


@pytest.mark.parametrize("name", features())
def test_a_feature_says_in_one_sentence_what_declaring_it_means(name: str) -> None:
    """The sentence stands alone in a listing."""
    sentence = features()[name].sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_hadoop_keys_are_the_features_own_names() -> None:
    """Names follow Hadoop's options, below fs.contract."""
    keys = {f.name: f.hadoop for f in features().values() if f.hadoop}
    assert keys == {name: f"fs.contract.{name}" for name in keys}
    assert len(keys) == 10


def test_every_feature_but_the_choices_between_outcomes_is_needed_by_a_clause() -> None:
    """Declaring a feature that nothing asks for would promise nothing."""
    needed = {n.removeprefix("!") for c in clauses().values() for n in c.needs}
    assert set(features()) - needed == {
        "supports-strict-exceptions",
        "openfile-first-read",
        "supports-deadlines",
    }


def test_the_reference_profile_leaves_only_other_sources_and_laxity_undeclared() -> None:
    """What our own streams do not declare is what they rule out on purpose."""
    assert set(features()) - load_profile("reference").features == {
        "supports-new-source",
        "supports-seek-on-closed-file",
        "python-file-writable",
        "supports-available-on-closed-file",
        "vector-io-overlapping-ranges",
        "openfile-first-read",
        "openfile-unsupported-keys",
        "supports-deadlines",
    }


def test_the_profiles_without_a_builder_of_opens_are_those_of_apis_without_one() -> None:
    """Python's open() has none, nor have the clients; fsspec is given one."""
    without = {n for n in profile_names() if not load_profile(n).has("supports-openfile")}
    assert without == {"python-file", "pyarrow", "obstore", "opendal"}
