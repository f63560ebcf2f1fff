"""Tests of `fscontract read`: records as bytes and JSON, counts, errors and interrupts."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.cli.support import COMMAND, error, output, process, run

LINES = b"".join(b"%05d %s\n" % (i, b"x" * (i % 70)) for i in range(3000))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A file of lines."""
    path = tmp_path / "log"
    path.write_bytes(LINES)
    return path


def objects(*args: object) -> list[dict[str, Any]]:
    """Return the printed JSON objects."""
    return [json.loads(line) for line in output(*args).splitlines()]


@pytest.mark.parametrize("size", ["1", "777", "64K", "1G"])
def test_lines_do_not_depend_on_the_block_size(log: Path, size: str) -> None:
    """Also with blocks of one byte."""
    if size == "1":
        log.write_bytes(LINES[:500] + b"\n")
    assert output("read", log, "--block-size", size) == log.read_bytes()


def test_bytes_are_printed_unchanged(tmp_path: Path) -> None:
    """All 256 values; the slices together are the file."""
    data = random.Random(1).randbytes(100_000)
    (tmp_path / "f").write_bytes(data)
    slices = ["--reader", "slices", "--length", "1000", "--block-size", "7777"]
    assert output("read", tmp_path / "f", *slices) == data
    lines = output("read", tmp_path / "f", "--delimiter", r"\x00\xff")
    assert lines == b"".join(one + b"\x00\xff" for one in data.split(b"\x00\xff"))
    done = process("read", tmp_path / "f", *slices)
    assert (done.returncode, done.stdout) == (0, data)


def test_json_has_place_and_record(tmp_path: Path) -> None:
    """Bytes that are not UTF-8 are base64."""
    path = tmp_path / "f"
    path.write_bytes("é\r\nx\n".encode() + b"\xff")
    assert objects("read", path, "--json", "--block-size", "4") == [
        {"path": str(path), "block": 0, "offset": 0, "record": "é"},
        {"path": str(path), "block": 0, "offset": 4, "record": "x"},
        {"path": str(path), "block": 1, "offset": 6, "base64": "/w=="},
    ]


def test_records_are_counted(log: Path) -> None:
    """As a number, or with all counters."""
    assert output("read", log, "--count") == b"3000\n"
    (counted,) = objects("read", log, "--count", "--json", "--block-size", "10000")
    assert counted.pop("seconds") >= 0
    blocks = -(-len(LINES) // 10_000)
    wanted = {"files": 1, "blocks": blocks, "records": 3000, "bytes": len(LINES)}
    assert counted == wanted


def test_a_limit_ends_the_reading(log: Path) -> None:
    """To zero, some, or more than all records."""
    lines = LINES.splitlines(keepends=True)
    for limit in (0, 1, 100, 5000):
        found = output("read", log, "--limit", limit, "--block-size", "999")
        assert found == b"".join(lines[:limit])
    assert output("read", log, "--limit", 17, "--count") == b"17\n"


def test_records_of_one_length_are_whole(tmp_path: Path) -> None:
    """For any block size, and behind a header."""
    (tmp_path / "f").write_bytes(b"HH111222333")
    fixed = ["--reader", "records", "--length", "3", "--block-size", "4", "--data-offset", "2"]
    assert output("read", tmp_path / "f", *fixed, "--end", r"\n") == b"111\n222\n333\n"


def test_records_may_be_delimited(tmp_path: Path) -> None:
    """And are printed unchanged."""
    (tmp_path / "f").write_bytes(b"a||b||||c||")
    delimited = ["--reader", "records", "--delimiter", "||", "--block-size", "3"]
    assert output("read", tmp_path / "f", *delimited) == b"a||b||||c||"
    assert output("read", tmp_path / "f", *delimited, "--end", r"\0") == b"a\0b\0\0c\0"


def test_partial_lines_show_block_boundaries(tmp_path: Path) -> None:
    """With reader lines-with-partial."""
    (tmp_path / "f").write_bytes(b"abcdef\ngh\n")
    rests = ["--reader", "lines-with-partial", "--block-size", "4"]
    assert output("read", tmp_path / "f", *rests) == b"abcdef\nef\ngh\nh\n"


def test_long_records_are_an_error_cut_or_left_out(tmp_path: Path) -> None:
    """Earlier records are printed; the error has the offset."""
    path = tmp_path / "f"
    path.write_bytes(b"a\n" + b"b" * 50 + b"\nc\n")
    most = ["read", path, "--max-length", "3"]
    result = run(*most)
    assert (result.exit_code, result.stdout) == (3, "a\n")
    wanted = "fscontract: error: block 0 at offset 2: record exceeds 3 bytes"
    assert result.stderr == f"{wanted}: '{path}'\n"
    assert output(*most, "--too-long", "truncate") == b"a\nbbb\nc\n"
    assert output(*most, "--too-long", "skip") == b"a\nc\n"


def test_a_compressed_file_is_one_block(tmp_path: Path) -> None:
    """For any block size; its compressed bytes can be read as well."""
    packed = gzip.compress(LINES)
    (tmp_path / "f.gz").write_bytes(packed)
    assert output("read", tmp_path / "f.gz", "--block-size", "100") == LINES
    raw = ["--compression", "none", "--reader", "slices", "--block-size", "100"]
    assert output("read", tmp_path / "f.gz", *raw) == packed


def test_files_follow_one_another(tmp_path: Path) -> None:
    """In the order of the URLs, and of the names in a directory."""
    for name in ("b", "a", "c"):
        (tmp_path / name).write_text(f"{name}\n")
    (tmp_path / "e").touch()
    assert output("read", tmp_path) == b"a\nb\nc\n"
    assert output("read", tmp_path / "c", tmp_path / "a", tmp_path / "e") == b"c\na\n"


def test_summary_is_printed_unless_quiet(log: Path) -> None:
    """On standard error, on one line without a terminal."""
    said = run("read", log, "--block-size", "64K").stderr
    assert said.startswith(f"3000 records, {len(LINES):,} bytes in 2 blocks of 1 file, ")
    assert len(said.splitlines()) == 1
    assert run("read", log, "--quiet").stderr == ""


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--delimiter", ""], "must have at least one byte"),
        (["--delimiter", r"\q"], "expected n, r, t, 0, xHH or a backslash after a backslash"),
        (["--delimiter", "x\\"], "after a backslash"),
        (["--length", "5"], "--length is not supported for --reader lines"),
        (
            ["--reader", "slices", "--delimiter", ";"],
            "--delimiter is not supported for records of fixed",
        ),
        (
            ["--reader", "slices", "--max-length", "9"],
            "--max-length is not supported for records of fixed",
        ),
        (["--reader", "words"], "'words' is not one of"),
        (
            ["--spark", "nearby"],
            "invalid value for --spark: 'nearby'; expected local[2], local-cluster[2,1,1024], spark://HOST",
        ),
        (["--limit", "-1"], "--limit"),
    ],
)
def test_usage_error_is_one_line(log: Path, args: list[str], said: str) -> None:
    """Before anything is read."""
    assert said in error(2, "read", log, *args)


def test_missing_input_is_reported_after_the_records(log: Path) -> None:
    """With exit code 3."""
    result = run("read", log, log.parent / "gone", "--quiet")
    assert (result.exit_code, result.stdout_bytes) == (3, LINES)
    assert result.stderr == f"fscontract: error: no such file or directory: '{log.parent}/gone'\n"


def test_unsupported_codec_error_is_one_line(tmp_path: Path) -> None:
    """By the suffix, its bytes are not lines."""
    (tmp_path / "f.lz4").write_bytes(b"a\n")
    assert "--compression none" in error(2, "read", tmp_path / "f.lz4")


def test_a_closed_pipe_ends_it_quietly(tmp_path: Path) -> None:
    """Although more output remains than a pipe holds."""
    (tmp_path / "f").write_bytes(b"line\n" * 500_000)
    command = [*COMMAND, "read", str(tmp_path / "f"), "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as reader:
        assert reader.stdout is not None
        assert reader.stderr is not None
        assert reader.stdout.read(5) == b"line\n"
        reader.stdout.close()
        assert reader.stderr.read() == b""
    assert reader.returncode == 141


def test_an_interrupt_ends_it_with_one_line(tmp_path: Path) -> None:
    """With the exit code of shells."""
    (tmp_path / "f").write_bytes(b"line\n" * 500_000)
    command = [*COMMAND, "read", str(tmp_path / "f"), "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as reader:
        assert reader.stdout is not None
        assert reader.stderr is not None
        assert reader.stdout.read(5) == b"line\n"  # it is running, and waits for the pipe
        reader.send_signal(signal.SIGINT)
        reader.stdout.read()
        assert reader.stderr.read().split(b"\n") == [b"", b"fscontract: error: interrupted", b""]
    assert reader.returncode == 130


def test_a_terminal_gets_a_bar(log: Path) -> None:
    """On standard error, if the records go elsewhere."""
    parent, child = os.openpty()
    variables = {k: v for k, v in os.environ.items() if k != "CI"} | {"TERM": "xterm"}
    with subprocess.Popen(
        [*COMMAND, "read", log, "--count"],
        stdout=subprocess.PIPE,
        stderr=child,
        env={**variables, "COLUMNS": "120"},
    ) as reader:
        os.close(child)
        assert reader.stdout is not None
        assert reader.stdout.read() == b"3000\n"
    shown = os.read(parent, 1 << 16)
    os.close(parent)
    assert b"3,000 records" in shown
    assert b"3000 records, " in shown


def test_metrics_are_a_line_of_json_on_standard_error(log: Path) -> None:
    """Counters of the splitter and the reader; the records are unchanged."""
    result = run("read", log, "--block-size", "64", "--quiet", "--metrics")
    assert result.stdout_bytes == LINES
    counted = json.loads(result.stderr)
    lines, blocks = LINES.count(b"\n"), -(-len(LINES) // 64)
    del counted["reader"]["time"]
    assert counted == {
        "splitter": {"scans": 1, "files": 1, "blocks": blocks, "bytes": len(LINES), "missing": 0},
        "reader": {"blocks": blocks, "records": lines, "bytes": len(LINES)},
    }
