"""Tests of `fscontract split`: blocks as lines, as JSON and as a table."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from fscontract.pipeline.blocks import FileBlockMetadata
from tests.pipeline.cli.support import COMMAND, error, output, run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A file of 11 bytes, an empty one, and one in a directory."""
    (tmp_path / "log").write_bytes(b"0123456789a")
    (tmp_path / "none").touch()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "x.txt").write_bytes(b"abc")
    return tmp_path


def blocks(*args: object) -> list[FileBlockMetadata]:
    """Return the blocks printed as JSON."""
    return [FileBlockMetadata.from_json(line.decode()) for line in _lines(output(*args))]


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines()


def test_blocks_are_lines_under_a_heading(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """File names are as typed by the user."""
    monkeypatch.chdir(folder.parent)
    lines = output("split", folder.name, "--block-size", "8").decode().splitlines()
    assert lines[0].split() == ["block", "offset", "end", "size", "previous", "last", "file"]
    assert [line.split() for line in lines[1:-1]] == [
        ["0", "0", "8", "8", "-", f"{folder.name}/log"],
        ["1", "8", "11", "3", "0", "last", f"{folder.name}/log"],
        ["2", "0", "3", "3", "-", "last", f"{folder.name}/sub/x.txt"],
    ]
    assert lines[-1] == snapshot("3 blocks of 3 files, 14 bytes")


def test_json_can_be_parsed_to_blocks(folder: Path) -> None:
    """Each line is a block, with the status of the file."""
    first, second, third = blocks("split", folder, "--json", "--block-size", "8")
    assert (first.end, second.end, third.end) == (8, 11, 3)
    assert second.path == str(folder / "log")
    assert second.previous_block_id == first.block_id
    assert third.etag is not None


def test_options_choose_files_and_blocks(folder: Path) -> None:
    """As in the splitter."""
    paths = [b.path for b in blocks("split", folder, "--json", "--no-recursive")]
    assert paths == [str(folder / "log")]
    paths = [b.path for b in blocks("split", folder, "--json", "--pattern", r".*\.txt")]
    assert paths == [str(folder / "sub" / "x.txt")]
    paths = [b.path for b in blocks("split", folder, "--json", "--ignore", "lo.")]
    assert paths == [str(folder / "sub" / "x.txt")]
    behind = blocks("split", folder / "log", "--json", "--data-offset", "5", "--block-size", "4")
    assert [(b.offset, b.end) for b in behind] == [(5, 8), (8, 11)]


def test_ids_are_unique_over_all_urls(folder: Path) -> None:
    """A duplicate URL counts once."""
    urls = [folder / "log", folder / "sub", f"file://{folder}/log", folder / "log"]
    found = blocks("split", *urls, "--json")
    assert [b.file_path for b in found] == [
        str(folder / "log"),
        str(folder / "sub" / "x.txt"),
        f"file://{folder}/log",
    ]
    assert len({b.block_id for b in found}) == 3


def test_more_blocks_than_one_window_are_listed(folder: Path) -> None:
    """More files and blocks than one window has."""
    (folder / "big").write_bytes(bytes(2500))
    assert len(blocks("split", folder, "--json", "--block-size", "1")) == 2500 + 11 + 3


def test_missing_input_is_reported_after_the_blocks(folder: Path) -> None:
    """With exit code 3."""
    result = run("split", folder / "log", folder / "gone", "--json")
    assert result.exit_code == 3
    assert len(result.stdout.splitlines()) == 1
    wanted = f"fscontract: error: no such file or directory: '{folder}/gone'\n"
    assert result.stderr == wanted


def test_only_the_error_is_printed_without_inputs(folder: Path) -> None:
    """Neither a heading nor a count, only the error."""
    result = run("split", folder / "gone")
    assert result.exit_code == 3
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1


def test_no_heading_is_shown_without_blocks(folder: Path) -> None:
    """An empty file has no blocks, but is counted."""
    assert output("split", folder / "none").decode() == snapshot("0 blocks of 1 file, 0 bytes\n")
    result = run("split", folder / "none", folder / "gone")
    assert result.stdout == snapshot("0 blocks of 1 file, 0 bytes\n")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (
            ["gs:/b/x"],
            "invalid URL gs:/b/x: expected a path, or a URL such as s3://bucket/path or ftp://host/path",
        ),
        (
            ["s3://me:geheim@b/x"],
            "s3://***@b/x: expected a bucket; keys must be options or in the environment",
        ),
        (
            ["file://host/x"],
            "invalid URL file://host/x: expected a path, or a URL such as s3://bucket/path or ftp://host/path",
        ),
        (
            ["x", "--block-size", "0"],
            "'0': expected a size such as 64K, from 1 to 8192T",
        ),
        (
            ["x", "--block-size", "5P"],
            "'5P': expected a size such as 64K, from 1 to 8192T",
        ),
        (["x", "--pattern", "("], "file_pattern is not a valid regular expression"),
        (
            ["x", "-o", "region=eu"],
            "-o requires the URL of a store, such as s3://bucket or ftp://host",
        ),
        (["s3://bucket/x", "-o", "nope=geheim"], "unknown S3 option 'nope'"),
        ([], "Missing argument 'URL...'"),
    ],
)
def test_usage_error_is_one_line(args: list[str], said: str) -> None:
    """With exit code 2, without secrets."""
    line = error(2, "split", *args)
    assert said in line
    assert "geheim" not in line


def test_a_directory_that_can_not_be_listed_is_one_line(folder: Path) -> None:
    """For example, a file instead of a directory."""
    assert "log/x" in error(3, "split", folder / "log" / "x")


def test_a_terminal_gets_a_table(folder: Path) -> None:
    """With the same cells."""
    parent, child = pty.openpty()
    variables = {k: v for k, v in os.environ.items() if k != "CI"} | {"TERM": "xterm"}
    command = [*COMMAND, "split", str(folder / "log"), "--block-size", "8"]
    with subprocess.Popen(command, stdout=child, env={**variables, "COLUMNS": "200"}):
        os.close(child)
        shown = b""
        while chunk := _read(parent):
            shown += chunk
    os.close(parent)
    assert b"\xe2\x94\x80" in shown or b"\xe2\x95\xb6" in shown  # the line below the heading
    assert str(folder / "log").encode() in shown
    assert b"2 blocks of 1 file, 11 bytes" in shown


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:  # Linux raises at the end
        return b""


def test_json_of_a_block_is_one_line_of_json(folder: Path) -> None:
    """For any file name."""
    (folder / "a\nb\t\u20ac").write_bytes(b"x")
    (line,) = _lines(output("split", folder, "--json", "--pattern", r"a[\s\S]*"))
    assert json.loads(line)["file_path"] == str(folder / "a\nb\t\u20ac")
