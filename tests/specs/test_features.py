"""The features and the shipped profiles are well formed."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from fscontract.contract.spec.clauses import clauses
from fscontract.contract.spec.profiles import features, load_profile, profile_names
from fscontract.contract.untrusted import parse_yaml

SPECS = Path(str(files("fscontract.specs")))


@pytest.mark.parametrize("name", profile_names())
def test_shipped_profile_is_valid_against_the_schema(name: str) -> None:
    path = SPECS / "profiles" / f"{name}.yaml"
    schema = json.loads((SPECS / "profile.schema.json").read_text(encoding="utf-8"))
    data = parse_yaml(path.read_text(encoding="utf-8"))
    assert list(Draft202012Validator(schema).iter_errors(data)) == []
    # a profile of the user promises its features: one that no call can exercise fails
    own = load_profile(str(path))
    assert replace(own, promised=frozenset()) == load_profile(name)


def test_shipped_profiles_are_named_after_their_files() -> None:
    assert {name: load_profile(name).name for name in profile_names()} == {
        name: name for name in profile_names()
    }


def test_features_have_one_sentence() -> None:
    sentences = {name: feature.sentence for name, feature in features().items()}
    assert [n for n, text in sentences.items() if not text.endswith(".") or "\n" in text] == []


def test_hadoop_keys_are_the_names_of_features_below_fs_contract() -> None:
    keys = {f.name: f.hadoop for f in features().values() if f.hadoop}
    assert keys == {name: f"fs.contract.{name}" for name in keys}
    assert len(keys) == 10


def test_every_feature_is_needed_by_a_clause_except_choices_between_outcomes() -> None:
    needed = {n.removeprefix("!") for c in clauses().values() for n in c.needs}
    assert set(features()) - needed == {
        "supports-strict-exceptions",
        "openfile-first-read",
        "supports-deadlines",
        "hadoop-tests",
    }


def test_reference_profile_declares_every_feature_but_these() -> None:
    assert set(features()) - load_profile("reference").features == {
        "supports-new-source",
        "supports-seek-on-closed-file",
        "python-file-writable",
        "fsspec-filesystem",
        "pyarrow-filesystem",
        "obstore-store",
        "opendal-operator",
        "library-readers",
        "supports-available-on-closed-file",
        "vector-io-overlapping-ranges",
        "openfile-first-read",
        "openfile-unsupported-keys",
        "supports-deadlines",
        "hadoop-tests",
    }


def test_profiles_of_apis_without_an_open_builder_declare_no_openfile() -> None:
    without = {n for n in profile_names() if not load_profile(n).has("supports-openfile")}
    assert without == {"python-file", "pyarrow", "obstore", "opendal"}
