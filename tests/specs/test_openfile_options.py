"""The table of openFile() options is well formed and matches the code."""

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


def test_options_are_valid_against_their_schema() -> None:
    schema = json.loads(_text("openfile-options.schema.json"))
    Draft202012Validator.check_schema(schema)
    data = parse_yaml(_text("openfile-options.yaml"))
    found = Draft202012Validator(schema).iter_errors(data)
    assert [f"{e.json_path}: {e.message}" for e in found] == []


def test_standard_options_are_the_six_of_the_source_and_have_constants() -> None:
    named = {"BUFFER_SIZE", "READ_POLICY", "LENGTH", "SPLIT_START", "SPLIT_END", "FOOTER_CACHE"}
    assert {getattr(openfile_options, name) for name in named} == TABLE.standard_keys
    assert {TABLE.options[key].field for key in TABLE.standard_keys} == {n.lower() for n in named}
    assert {k for k in TABLE.options if k.startswith(PREFIX)} == TABLE.standard_keys


def test_stores_have_four_s3a_keys_and_one_abfs_key() -> None:
    stores = [option.store for option in TABLE.options.values() if not option.standard]
    assert stores == ["s3a"] * 4 + ["abfs"]


def test_policies_are_the_thirteen_of_the_source() -> None:
    """Hadoop's own set lacks hbase."""
    names = "adaptive avro columnar csv default hbase json orc parquet random sequential vector"
    assert set(TABLE.policies) == {*names.split(), "whole-file"}


def test_advice_of_a_policy_follows_from_the_reads_it_expects() -> None:
    for policy in TABLE.policies.values():
        sequential, random = ("sequential" in policy.expects), ("random" in policy.expects)
        wanted = {(True, False): "sequential", (False, True): "random"}
        assert policy.advice == wanted.get((sequential, random), "normal"), policy.name
        assert (policy.buffer is not None) == (policy.advice == "sequential"), policy.name


def test_types_have_examples_of_valid_and_invalid_values() -> None:
    """Every text is valid."""
    for name, value_type in TABLE.types.items():
        meant = [meant for _, meant in value_type.examples]
        assert any(m is not None for m in meant)
        assert (None in meant) == (name != "text")


def test_names_of_clauses_features_keys_and_policies_are_unique() -> None:
    """They share the argument of `explain`."""
    names = [*clauses(), *features(), *TABLE.options, *TABLE.policies]
    assert len(names) == len(set(names))
