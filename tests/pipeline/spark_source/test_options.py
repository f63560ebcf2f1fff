"""Tests of options: parsed values, and errors."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fscontract.implementations.options import text
from fscontract.implementations.spark.locations import LocalLocation, S3Location
from fscontract.pipeline.spark_source import hudi_source, metadata_source
from fscontract.pipeline.spark_source.errors import SourceException, one_line
from fscontract.pipeline.spark_source.options import (
    LOCATIONS,
    OPTIONS,
    location,
    parse_options,
    table,
)
from fscontract.pipeline.spark_source.request import ReadRequest, absolute_locations
from tests.docs.pages import hold, hold_widths


def _request(**options: str) -> ReadRequest:
    return ReadRequest.of({"path": "/in", **options})


def test_without_options_lines_are_text() -> None:
    """With all columns."""
    request = _request()
    assert (request.binary, request.delimiter, request.location) == (False, None, LocalLocation())
    assert request.values["columns"] == ("value", "path", "block_id", "offset")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("BLOCKSIZE", "64m", 64 << 20),
        ("blocksize", " 1048576 ", 1 << 20),
        ("columns", "offset, value", ("offset", "value")),
        ("columns", "", ()),
        ("dropBlank", "TRUE", True),
        ("reader", "Slices", "slices"),
        ("ignorePattern", "", None),
        ("delimiterHex", "ff00", b"\xff\0"),
    ],
)
def test_values_are_read(name: str, text: str, value: object) -> None:
    """In any case."""
    read = parse_options({name: text})
    assert {k.lower(): v for k, v in read.items()}[name.lower()] == value


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"blocksze": "1"}, "unknown option 'blocksze'; did you mean blockSize or"),
        (
            {"blockSize": "0"},
            "option 'blockSize' can't be '0': expected a size such as 64K, from 1 to 8192T",
        ),
        ({"blockSize": "many"}, "option 'blockSize' can't be 'many': expected a size"),
        (
            {"columns": "value,value"},
            "option 'columns' can't be 'value,value': expected some of value",
        ),
        ({"columns": "size"}, "option 'columns' can't be 'size'"),
        (
            {"reader": "csv"},
            "option 'reader' can't be 'csv': expected one of lines, slices, records",
        ),
        ({"dropBlank": "1"}, "option 'dropBlank' can't be '1': expected true or false"),
        ({"delimiter": ""}, "option 'delimiter' can't be '': must not be empty"),
        ({"delimiterHex": "f"}, "option 'delimiterHex' can't be 'f'"),
        ({"filePattern": "("}, "option 'filePattern' can't be '(': not a valid regular expression"),
        (
            {"scanInterval": "0"},
            "option 'scanInterval' can't be '0': expected a time such as 500ms, 5s or 2m",
        ),
        (
            {"reader": "records"},
            "reader 'records' requires option 'delimiter', 'delimiterHex' or 'record",
        ),
        ({"recordLength": "4"}, "option 'recordLength' is not supported for lines"),
        ({"sliceSize": "4"}, "option 'sliceSize' is not supported for lines"),
        (
            {"reader": "records", "recordLength": "4", "dropBlank": "true"},
            "option 'dropBlank' is not supported for fixed-width records",
        ),
        (
            {"delimiter": "a", "delimiterHex": "61"},
            "'delimiter' and 'delimiterHex' are mutually exclusive",
        ),
        ({"maxFilesPerTrigger": "1"}, "option 'maxFilesPerTrigger' is supported only for a stream"),
        (
            {"windowLocation": "/w", "openCostInBytes": "1"},
            "'openCostInBytes' is supported only for a batch",
        ),
        (
            {"windowLocation": "/w", "minPartitions": "3", "maxPartitions": "2"},
            "option 'minPartitions' must not exceed 'maxPartitions'",
        ),
        ({"s3.endpoint": "http://x"}, "option 's3.endpoint' requires an s3:// URL"),
        ({"storage.timeout": "5"}, "option 'storage.timeout' requires a URL that fsspec opens"),
        (
            {"path": "ftp://host/x", "storage.password": "hidden-0815"},
            "executors, which find them in the environment variable FSSPEC_FTP_PASSWORD, in",
        ),
        (
            {"path": "simplecache::ftp://host/x", "storage.ftp": '{"password": "hidden-0815"}'},
            "option 'storage.ftp' must not be set: credentials would be sent to executors, which "
            "find them in the environment variable FSSPEC_FTP, in",
        ),
    ],
    ids=str,
)
def test_invalid_option_error_is_one_line(options: dict[str, str], said: str) -> None:
    """With the name of the option."""
    with pytest.raises(SourceException) as error:
        _request(**options)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("file:relative", "invalid URL file:relative: expected an absolute path"),
        ("nope://host/x", "unknown protocol 'nope' in nope://host"),
        ("oss://bucket/x", "oss: URLs need a package that is not installed: .* ossfs"),
        ("memory://x/y", "memory: URLs can't be read on Spark"),
        ("zip://x/y::ftp://host/a.zip", "a chain must end with the path"),
        ("s3://user@bucket/x", r"s3://\*\*\*@bucket/x: expected a bucket"),
        ("ftp://me:hidden@host/x", r"ftp://\*\*\*@host/x: the URL must not contain a password"),
    ],
)
def test_paths_must_be_readable_by_executors(path: str, said: str) -> None:
    """Others are rejected."""
    with pytest.raises(SourceException, match=said):
        ReadRequest.of({"path": path})


def test_paths_may_be_a_list() -> None:
    """As Spark passes it; without duplicates."""
    assert ReadRequest.of({"paths": '["/a", "/b", "/a"]'}).paths == ("/a", "/b")


@pytest.mark.parametrize(
    "text", ["x", "{}", "[1]", '["a", null]', "["], ids=["text", "object", "number", "null", "cut"]
)
def test_invalid_list_of_paths_error_is_one_line(text: str) -> None:
    with pytest.raises(
        SourceException, match=r"'paths' can't be .*: expected a JSON list of paths"
    ):
        ReadRequest.of({"paths": text})


@pytest.mark.parametrize(
    ("given", "absolute"),
    [
        ("data", "{here}/data"),
        ("./data/../other/", "{here}/other"),
        ("day=*/*.parquet", "{here}/day=*/*.parquet"),
        ("2026-01-02T10:00", "{here}/2026-01-02T10:00"),
        ("/data", "/data"),
        ("file:///data", "file:///data"),
        ("s3a://bucket/data", "s3a://bucket/data"),
        ("hdfs:x", "hdfs:x"),
        ("", ""),
    ],
)
def test_relative_locations_are_below_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, absolute: str
) -> None:
    """URIs and absolute paths are unchanged, and so are options without a location."""
    monkeypatch.chdir(tmp_path)
    wanted = absolute.format(here=tmp_path)
    one = {"PATH": given, "windowLocation": given, "metadatadir": given}
    assert absolute_locations(one) == dict.fromkeys(one, wanted)
    assert absolute_locations({"paths": json.dumps([given])}) == {"paths": json.dumps([wanted])}
    other = {"delimiter": given, "where": given}
    assert absolute_locations(other) == other


def test_each_option_of_a_location_is_made_absolute() -> None:
    """A new one must have the kind `location`, or be listed here as another text."""
    every = (*OPTIONS, *metadata_source.OPTIONS, *hudi_source.OPTIONS)
    kinds = {option.name: option.kind for option in every}
    texts = {name for name, kind in kinds.items() if kind is text}
    assert texts == {"where", "delimiter", "asOf", "begin", "end"}
    assert {name.lower() for name, kind in kinds.items() if kind is location} | {"path"} == set(
        LOCATIONS
    )


def test_no_path_is_an_error() -> None:
    """The message shows how to set one."""
    with pytest.raises(SourceException, match=r"missing path: use \.load\(path\)"):
        ReadRequest.of({})


def test_paths_are_in_one_filesystem() -> None:
    """Two are rejected."""
    with pytest.raises(
        SourceException, match="all paths must be in one filesystem, got file:/// and"
    ):
        ReadRequest.of({"paths": '["/a", "s3://bucket/b"]'})


def test_options_of_a_bucket_have_a_prefix() -> None:
    """fscontract's, or Hadoop's."""
    options = {"s3.endpoint": "http://127.0.0.1:1", "fs.s3a.path.style.access": "true"}
    location = ReadRequest.of({"path": "s3a://bucket/dir", **options}).location
    assert isinstance(location, S3Location)
    assert (location.config.endpoint, location.config.path_style) == ("http://127.0.0.1:1", True)


@pytest.mark.parametrize("name", ["s3.secret_key", "fs.s3a.access.key", "s3.session_token"])
def test_keys_are_rejected_as_options(name: str) -> None:
    """They would be sent to executors; their values are not shown."""
    with pytest.raises(SourceException, match="must not be set: keys would be sent") as error:
        ReadRequest.of({"path": "s3://bucket/dir", name: "hush-hush"})
    assert "hush" not in str(error.value)


def test_modes_do_not_mix() -> None:
    """A stream has windows, and a batch has none."""
    with pytest.raises(SourceException, match="a stream requires option 'windowLocation'"):
        _request().for_mode(streaming=True)
    with pytest.raises(SourceException, match="'windowLocation' requires a stream"):
        _request(windowLocation="/w").for_mode(streaming=False)
    with pytest.raises(SourceException, match="'reader' can't be 'parquet' for a stream"):
        _request(windowLocation="/w", reader="parquet").for_mode(streaming=True)
    with pytest.raises(SourceException, match="'metadata' is supported only for a batch"):
        _request(windowLocation="/w", metadata="true")


def test_every_option_has_a_description_and_a_unique_name() -> None:
    """Names are compared case-insensitively."""
    assert len({option.name.lower() for option in OPTIONS}) == len(OPTIONS)
    assert all(option.meaning.endswith((".", ". ")) for option in OPTIONS)


def test_errors_of_files_become_one_line() -> None:
    """Spark omits the traceback, in the process that ends with it."""
    with pytest.raises(SourceException) as error, one_line():
        raise OSError("first\n  second")
    assert str(error.value) == "first second"
    assert os.environ["SPARK_HIDE_TRACEBACK"] == "1"


def test_other_errors_keep_their_traceback() -> None:
    """They are bugs."""
    with pytest.raises(KeyError), one_line():
        raise KeyError("x")
    assert not os.environ["SPARK_HIDE_TRACEBACK"]


def test_the_documentation_has_the_table_of_options() -> None:
    """As defined in the code; `UPDATE_DOCS=1` writes it."""
    hold_widths(table())
    hold("how-to/spark-source.md", table())


@pytest.mark.parametrize(
    ("windows", "master", "allowed"),
    [
        ("/w", "local[2]", True),
        ("/w", "local-cluster[2,1,1024]", True),
        ("/w", "spark://host:7077", False),
        ("/w", "yarn", False),
        ("file:///w", "yarn", True),
        ("s3://bucket/w", "k8s://https://host", True),
    ],
)
def test_windows_on_one_machine_of_a_cluster_are_refused(
    windows: str, master: str, allowed: bool
) -> None:
    """A URL says that all machines share the directory."""
    request = _request(windowLocation=windows)
    if allowed:
        request.check_windows(master)
        return
    with pytest.raises(SourceException, match="next driver may start on another machine"):
        request.check_windows(master)
