"""The table of options as the code reads it; `tests/specs` checks its content."""

from __future__ import annotations

import subprocess
import sys

from fscontract.contract.api.openfile_options import (
    BUFFER_SIZE,
    LENGTH,
    READ_POLICY,
    SPLIT_START,
    option_table,
)

TABLE = option_table()


def test_table_is_read_once() -> None:
    assert option_table() is TABLE


def test_standard_key_has_the_name_of_an_attribute() -> None:
    assert TABLE.options[SPLIT_START].field == "split_start"


def test_key_of_a_store_is_not_standard() -> None:
    assert TABLE.options[LENGTH].standard
    assert not TABLE.options["fs.s3a.readahead.range"].standard
    assert "fs.s3a.readahead.range" not in TABLE.standard_keys


def test_type_of_an_option_is_in_the_table() -> None:
    assert {option.type for option in TABLE.options.values()} <= set(TABLE.types)
    assert TABLE.options[BUFFER_SIZE].unit == "bytes"
    assert TABLE.options[READ_POLICY].least is None


def test_policy_says_which_reads_it_expects() -> None:
    assert TABLE.policies["random"].expects == ("random",)
    assert TABLE.policies["parquet"].footer_cache is True


def test_import_of_the_options_does_not_import_yaml() -> None:
    code = "import sys, fscontract.contract.api.openfile_options; sys.exit('yaml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
