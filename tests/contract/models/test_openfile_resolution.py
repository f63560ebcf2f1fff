"""The model of option resolution: which options a sequence of builder calls sets."""

from __future__ import annotations

import math
from typing import Any

import pytest

from fscontract.contract.api.filesystem import FileStatus
from fscontract.contract.api.openfile_options import (
    BUFFER_SIZE,
    FOOTER_CACHE,
    LENGTH,
    READ_POLICY,
    SPLIT_END,
    SPLIT_START,
    option_table,
)
from fscontract.contract.models.openfile_resolution import (
    Call,
    Refusal,
    Resolution,
    resolve,
)
from fscontract.contract.program.outcome import Kind

TABLE = option_table()
#: One key of each type; text is for keys of a filesystem's own.
KEYS = {
    "long": LENGTH,
    "int": BUFFER_SIZE,
    "boolean": FOOTER_CACHE,
    "policy-list": READ_POLICY,
    "text": "fs.s3a.select.sql",
}
EXAMPLES = [(t.name, given, meant) for t in TABLE.types.values() for given, meant in t.examples]


def resolved(*calls: Call, **more: Any) -> Resolution:
    """Return the options that the calls set by the shipped table."""
    return resolve(calls, TABLE, **more)


@pytest.mark.parametrize(("kind", "given", "meant"), EXAMPLES)
def test_value_is_read_as_its_type_in_the_table_says(kind: str, given: Any, meant: Any) -> None:
    key, form = KEYS[kind], "_double" if isinstance(given, float) else ""
    for strength in ("opt", "must"):
        found = resolved((strength + form, key, given), known=["fs.s3a.select.sql"])
        got = found.own[key] if kind == "text" else getattr(found, TABLE.options[key].field)
        assert (got, type(got)) == (meant, type(meant)), strength


class TestKeys:
    def test_unknown_mandatory_key_is_an_illegal_argument(self) -> None:
        found = resolved(("must", "fs.x", 1), ("opt", "fs.y", 1), ("must_long", "fs.a", 1))
        kind = Kind.ILLEGAL_ARGUMENT
        assert found.refusals == (Refusal("fs.a", kind), Refusal("fs.x", kind))

    def test_mandatory_key_of_another_store_is_an_illegal_argument(self) -> None:
        key = "fs.s3a.readahead.range"
        assert resolved(("must", key, 1)).refusals == (Refusal(key, Kind.ILLEGAL_ARGUMENT),)
        assert resolved(("opt", key, 1)) == Resolution()

    def test_key_of_the_filesystem_is_read_by_its_type(self) -> None:
        found = resolved(
            ("must", "fs.s3a.readahead.range", " 7 "),
            ("opt", "fs.azure.buffered.pread.disable", "maybe"),
            ("opt", "fs.mine", 7),
            known=["fs.s3a.readahead.range", "fs.azure.buffered.pread.disable", "fs.mine"],
        )
        assert found.refusals == ()
        assert found.own == {
            "fs.s3a.readahead.range": 7,
            "fs.azure.buffered.pread.disable": None,
            "fs.mine": "7",
        }

    def test_mandatory_key_without_support_is_unsupported(self) -> None:
        found = resolved(("must", "fs.sql", "q"), unsupported=["fs.sql"])
        assert found.refusals == (Refusal("fs.sql", Kind.UNSUPPORTED),)
        assert resolved(("opt", "fs.sql", "q"), unsupported=["fs.sql"]).refusals == ()

    def test_standard_key_is_never_refused(self) -> None:
        """Contradiction G5 of the document."""
        calls = [("must", key, "nonsense") for key in TABLE.standard_keys]
        found = resolved(*calls, unsupported=TABLE.standard_keys)
        assert found == Resolution(mandatory=TABLE.standard_keys)

    def test_last_setting_decides_whether_a_key_is_mandatory(self) -> None:
        must, opt = ("must", "fs.x", 1), ("opt_double", "fs.x", 1.0)
        assert resolved(must, opt).refusals == ()
        assert len(resolved(opt, must).refusals) == 1

    @pytest.mark.parametrize(
        "call",
        [("opt", None, "x"), ("must", LENGTH, None), ("opt_double", 7, 1.0), ("buffer_size", None)],
    )
    def test_call_without_key_or_value_sets_nothing(self, call: Call) -> None:
        assert resolved(("opt", LENGTH, 3), call) == Resolution(rejected_calls=(1,), length=3)

    @pytest.mark.parametrize("method", ["set", "opt_int", "may", "opt_"])
    def test_unknown_builder_method_raises_value_error(self, method: str) -> None:
        with pytest.raises(ValueError, match="no builder method"):
            resolved((method, LENGTH, 1))


class TestValues:
    def test_last_setting_decides_the_value(self) -> None:
        assert resolved(("opt", LENGTH, 1), ("must_long", LENGTH, 2)).length == 2

    def test_invalid_last_setting_leaves_the_option_unset(self) -> None:
        assert resolved(("opt", LENGTH, 1), ("opt_double", LENGTH, math.nan)).length is None

    def test_buffer_size_is_set_by_method_and_by_key(self) -> None:
        one, two = ("buffer_size", 1), ("must", BUFFER_SIZE, 2)
        assert resolved(one, two).buffer_size == 2
        assert resolved(two, one) == Resolution(buffer_size=1)

    @pytest.mark.parametrize("number", [10**5000, -(10**5000)], ids=["huge", "-huge"])
    def test_number_beyond_a_long_leaves_the_option_unset(self, number: int) -> None:
        assert resolved(("opt_long", LENGTH, number)).length is None
        assert resolved(("opt", LENGTH, "9" * 5000)).length is None

    def test_double_is_clamped_to_a_long(self) -> None:
        assert resolved(("opt_double", LENGTH, 10**5000)).length == 2**63 - 1
        assert resolved(("opt_double", SPLIT_END, -math.inf)).split_end is None

    @pytest.mark.parametrize(
        ("start", "end", "split"),
        [(1, 2, (1, 2)), (2, 2, (2, 2)), (3, 2, (0, 2)), (3, -1, (3, None)), (-1, 5, (None, 5))],
    )
    def test_split_that_starts_after_its_end_starts_at_zero(
        self, start: int, end: int, split: tuple[int | None, int | None]
    ) -> None:
        found = resolved(("opt_long", SPLIT_START, start), ("opt_long", SPLIT_END, end))
        assert (found.split_start, found.split_end) == split
        assert found.length is None


class TestFooters:
    @pytest.mark.parametrize("name", TABLE.policies)
    def test_read_policy_of_a_format_sets_a_default_for_the_footer_cache(self, name: str) -> None:
        wanted = {"parquet": True, "orc": True, "avro": False, "csv": False, "json": False}
        found = resolved(("opt", READ_POLICY, name))
        assert found.footer_cache is {**wanted, "hbase": False}.get(name)

    def test_footer_cache_option_overrides_the_policy(self) -> None:
        policy = ("opt", READ_POLICY, "orc")
        assert resolved(("opt", FOOTER_CACHE, False), policy).footer_cache is False
        assert resolved(policy, ("opt", FOOTER_CACHE, "maybe")).footer_cache is True


class TestStatus:
    def test_length_of_the_status_overrides_the_option(self) -> None:
        status = FileStatus("/a", 4096)
        given, option = ("with_file_status", status), ("must_long", LENGTH, 32)
        for calls in ((given, option), (option, given)):
            assert resolved(*calls).length == 4096
            assert resolved(*calls).status is status

    def test_status_none_removes_the_status(self) -> None:
        calls = ("with_file_status", FileStatus("/a", 1)), ("with_file_status", None)
        assert resolved(*calls) == Resolution()

    @pytest.mark.parametrize("status", [FileStatus("/a", 0, True), FileStatus("/a", -1)])
    def test_status_without_a_length_leaves_the_option(self, status: FileStatus) -> None:
        assert resolved(("opt", LENGTH, 32), ("with_file_status", status)).length == 32
