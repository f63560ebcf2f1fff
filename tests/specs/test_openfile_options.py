"""The table of the options of openFile() is well formed, and is what the code goes by."""

from __future__ import annotations

import json
from importlib.resources import files

from jsonschema import Draft202012Validator

from fscontract.contract.api import openfile_options
from fscontract.contract.api.openfile_options import PREFIX, option_table
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.spec.profiles import features
from fscontract.contract.untrusted import parse_yaml

SPECS = files("fscontract.specs")
TABLE = option_table()


def _text(name: str) -> str:
    return SPECS.joinpath(name).read_text(encoding="utf-8")


def test_it_keeps_to_its_schema() -> None:
    """No unknown key; numbers, and only they, have a unit and a least value."""
    schema = json.loads(_text("openfile-options.schema.json"))
    Draft202012Validator.check_schema(schema)
    data = parse_yaml(_text("openfile-options.yaml"))
    found = Draft202012Validator(schema).iter_errors(data)
    assert [f"{e.json_path}: {e.message}" for e in found] == []


def test_the_standard_options_are_the_six_of_the_document() -> None:
    """Each has its constant, and all start with the same prefix."""
    named = {"BUFFER_SIZE", "READ_POLICY", "LENGTH", "SPLIT_START", "SPLIT_END", "FOOTER_CACHE"}
    assert {getattr(openfile_options, name) for name in named} == TABLE.standard_keys
    assert {TABLE.options[key].field for key in TABLE.standard_keys} == {n.lower() for n in named}
    assert {k for k in TABLE.options if k.startswith(PREFIX)} == TABLE.standard_keys


def test_other_stores_have_the_keys_of_the_document() -> None:
    """Four of S3A, one of ABFS."""
    stores = [option.store for option in TABLE.options.values() if not option.standard]
    assert stores == ["s3a"] * 4 + ["abfs"]


def test_the_policies_are_the_thirteen_of_the_document() -> None:
    """Hadoop's own set lacks hbase."""
    names = "adaptive avro columnar csv default hbase json orc parquet random sequential vector"
    assert set(TABLE.policies) == {*names.split(), "whole-file"}


def test_advice_follows_from_what_a_policy_expects() -> None:
    """Of sequential reads alone, or of random ones without sequential ones."""
    for policy in TABLE.policies.values():
        sequential, random = ("sequential" in policy.expects), ("random" in policy.expects)
        wanted = {(True, False): "sequential", (False, True): "random"}
        assert policy.advice == wanted.get((sequential, random), "normal"), policy.name
        assert (policy.buffer is not None) == (policy.advice == "sequential"), policy.name


def test_every_type_has_examples_of_something_and_of_nothing() -> None:
    """But for text, which is always something."""
    for name, value_type in TABLE.types.items():
        meant = [meant for _, meant in value_type.examples]
        assert any(m is not None for m in meant)
        assert (None in meant) == (name != "text")


def test_a_name_explains_one_thing() -> None:
    """Clauses, features, keys and policies share the argument of `explain`."""
    names = [*clauses(), *features(), *TABLE.options, *TABLE.policies]
    assert len(names) == len(set(names))
