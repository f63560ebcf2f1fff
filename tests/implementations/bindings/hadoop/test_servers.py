"""Tests of Hadoop's streams from servers, which have only mandatory features."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from fscontract.contract.binding import TargetError
from fscontract.contract.program.content import content
from fscontract.contract.program.outcome import Kind
from fscontract.contract.program.program import Step
from fscontract.implementations.bindings.hadoop.binding import HadoopBinding
from servers.ftp import PASSWORD, USER

DATA = content(5000)
#: pyftpdlib sometimes loses a transfer when it has to connect to the client.
PASSIVE = {"fs.ftp.data.connection.mode": "PASSIVE_LOCAL_DATA_CONNECTION_MODE"}
Shown = Callable[..., list[str]]


@pytest.mark.parametrize("absolute", [True, False])
def test_a_file_of_a_web_server_is_read(
    absolute: bool, web: str, tmp_path: Path, shown: Shown
) -> None:
    """It can't be written or changed, and has no length."""
    copy = tmp_path / "file"
    copy.write_bytes(DATA)
    name = f"{web}file" if absolute else "file"
    binding = HadoopBinding.from_url(web, {}, file=name, content=copy)
    binding.prepare()
    said = shown(binding, DATA, ("read_byte",), ("read_into", 2, 0, 2), ("seek", 0))
    assert said[:2] == [f"returned {DATA[0]}", f"returned 2, buffer {DATA[1:3].hex(' ')}"]
    assert said[2].startswith("UNSUPPORTED")
    assert (binding.remote, binding.default_profile) == (True, "hadoop-http")
    assert binding.opener.scenes == {"file", "missing", "foreign"}
    with pytest.raises(OSError, match="FileNotFoundException"):
        binding.open(binding.opener.place("missing", DATA))
    with pytest.raises(TargetError, match="the target is read-only"):
        binding.leftovers()
    binding.dispose()


def test_missing_web_server_gives_no_verdict(web: str, tmp_path: Path) -> None:
    """The stream is not at fault."""
    copy = tmp_path / "file"
    copy.write_bytes(DATA)
    binding = HadoopBinding.from_url("http://127.0.0.1:9/", {}, file="file", content=copy)
    with pytest.raises(ConnectionError, match="ConnectException"):
        binding.open(binding.create(DATA))
    binding.dispose()


def test_files_of_an_ftp_server_are_written_and_read(
    ftp: str, tmp_path: Path, shown: Shown
) -> None:
    """The stream reads sequentially, without seek."""
    binding = HadoopBinding.from_url(ftp, PASSIVE)
    binding.prepare()
    said = shown(binding, DATA, ("read_into", 2, 0, 2), ("get_pos",), ("seek", 0))
    assert said[:2] == [f"returned 2, buffer {DATA[:2].hex(' ')}", "returned 2"]
    assert said[2] == snapshot("IO (IOException: Seek not supported)")
    path = binding.create(DATA)
    assert binding.status_length(path) == 5000
    binding.change(path, b"abc")
    assert binding.status_length(path) == 3
    binding.dispose()
    assert list(tmp_path.iterdir()) == []


def test_the_password_is_never_shown(ftp: str) -> None:
    """Neither in the name, nor in Hadoop's messages about a path."""
    binding = HadoopBinding.from_url(ftp, PASSIVE)
    binding.prepare()
    opener = binding.opener
    foreign = opener.build(opener.open_file(opener.place("foreign", DATA)))
    with pytest.raises(Exception, match="Wrong FS") as caught:
        opener.get(foreign)
    outcome = opener.outcome(caught.value)
    assert outcome.kind is Kind.ILLEGAL_ARGUMENT
    said = [binding.name, str(outcome), str(binding.as_python(caught.value))]
    with pytest.raises(OSError, match="FileNotFound") as missing:
        binding.open("/nowhere")
    binding.dispose()
    assert [text for text in (*said, str(missing.value)) if PASSWORD in text or USER in text] == []


def test_a_server_that_refuses_the_password_is_one_line(ftp: str) -> None:
    """It does not contain the wrong password."""
    binding = HadoopBinding.from_url(ftp.replace(PASSWORD, "wrong-password"), PASSIVE)
    with pytest.raises(TargetError) as caught:
        binding.prepare()
    assert "\n" not in str(caught.value)
    assert "wrong-password" not in str(caught.value)
    binding.dispose()


def test_a_closed_stream_of_a_server_is_closed(ftp: str) -> None:
    """Its connection is closed, and each call raises."""
    binding = HadoopBinding.from_url(ftp, PASSIVE)
    binding.prepare()
    opened = binding.open(binding.create(DATA))
    binding.bind(Step("close"))(opened)
    assert binding.bind(Step("read_byte"))(opened).kind is Kind.IO
    binding.dispose()
