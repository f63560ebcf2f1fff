"""Failures as Python scripts that need only the library under test."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from fscontract.contract.program.open_calls import BuilderCall, Opening
from fscontract.contract.program.program import Program
from fscontract.contract.script.calls import NoScript, Source
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.languages import python_script
from fscontract.contract.spec.profiles import load_profile
from fscontract.contract.targets import resolve_target
from tests.contract.script.formatting import RUFF, is_formatted
from tests.script_runner import ScriptRunner

_MEMORY, _LOCAL = "memory://scripts", "file:///tmp"
#: Failures of fsspec's files in memory, which local files do not have.
_SHARED: dict[str, tuple[int, int, list[Any]]] = {
    "open.independent": (2, 5, [{"stream": 1, "call": ["seek", 1]}, ["read_byte"]]),
    "close.state": (1, 5, [["close"], ["py_tell"]]),
    "seek.open": (1, 5, [["close"], ["seek", 2]]),
    "python.with.closes": (1, 0, [["py_with"]]),
    "python.writable.false": (1, 0, [["py_writable"]]),
    "python.write.refused": (1, 0, [["py_write"]]),
    "pread.pos-unchanged": (1, 5, [["read_fully", 0, 4, 0, 4], ["read_byte"]]),
    "python.closed.after": (1, 5, [["close"], ["py_closed"]]),
}
#: Right calls, of all forms of results.
_RIGHT: list[list[Any]] = [
    [["read_byte"]],
    [["seek", "len"], ["read_byte"]],
    [["read_into", 4, 1, 2]],
    [["read_into", 4, 0, 0]],
    [["seek", "len"], ["read_into", 4, 0, 4]],
    [["py_read", 4], ["py_read", -1]],
    [["py_read", 4], ["py_tell"]],
    [["py_read", 4], ["py_readinto", "B", 3]],
    [["py_readinto", "B", 3], ["read_byte"]],
    [["py_readinto", "slice", 3]],
    [["py_readinto", "I", 2]],
    [["py_readinto", "2d", 2]],
    [["py_readinto", "readonly", 2]],
    [["py_readline", None]],
    [["py_readline", 3]],
    [["py_readlines", None]],
    [["py_next"], ["py_next"]],
    [["seek", "len"], ["py_next"], ["py_tell"]],
    [["py_seek", -1, 2], ["py_tell"]],
    [["py_seek", -1, 0], ["py_tell"]],
    [["py_seek", 2**63 - 2, 2]],
    [["py_closed"]],
    [["py_with_error"]],
    [["close"], ["py_read", 1]],
    [["close"], ["close"]],
    [["pread", 2, 4, 0, 4]],
    [["pread", "len", 4, 0, 4]],
    [["read_fully", 2, 4, 1, 3]],
    [["read_fully", 0, 0, 0, 0]],
    [["read_vectored", [[0, 2], [4, 2]], "heap", "absent"]],
    [["change", "append"], ["read_byte"]],
    [["change", "overwrite"], ["py_read", 3]],
    [["change", "overwrite"], ["read_fully", 0, 8, 1, 2]],
    [["change", "replace"], ["read_byte"]],
    [["change", "truncate"], ["pread", 1, 3, 0, 3]],
    [["read_byte"], ["reopen"], ["py_tell"]],
    [["fs_cat_file", -3, None]],
    [["fs_cat", "glob", "raise"]],
    [["fs_cat", ["other", "missing", "file"], "return"]],
    [["fs_cat", ["file", "missing"], "raise"]],
    [["fs_read_block", 1, 2, "c6"]],
    [["fs_get_file", "other"]],
    [["fs_get", "directory"]],
    [["fs_open_cached", "blockcache", "48 bytes"]],
    [["fs_decompress", "xz", "named", "OpenFile", "parts"]],
    [["fs_open_urls", ["other", "file"]]],
    [["fs_info", "size"]],
    [["fs_sizes", ["other", "file"]]],
    [["fs_text", "other", "lines", "utf-8", "strict", ""]],
]
#: Programs of clauses that are SHOULD, so that only the clause itself makes a result wrong.
_RECOMMENDED: dict[str, list[Any]] = {
    "filesystem.cat-ranges.return": [
        ["fs_cat_ranges", ["file", "missing", "other"], 0, [2, 2, 2], "return"]
    ],
    "filesystem.get-file.leaves-nothing": [["fs_get_leaves"]],
    "filesystem.ukey.changed": [["fs_ukey", "changed"]],
    "filesystem.pickle.compressed": [["fs_pickle", "compressed open file"]],
    "filesystem.pickle.compressed-other-process": [["fs_other_process", "compressed open file"]],
}


def _script(
    target: str,
    clause: str,
    steps: list[Any],
    length: int = 9,
    streams: int = 1,
    options: Mapping[str, str] = MappingProxyType({}),
    calls: tuple[BuilderCall, ...] = (),
    hangs: bool = False,
    intermittent: bool = False,
) -> str:
    binding = resolve_target(target, dict(options))
    program = Program.from_json({"length": length, "streams": streams, "steps": steps})
    program = replace(program, opening=Opening("file", calls)) if calls else program
    features = load_profile(binding.default_profile).as_observed({}).features
    versions = dict(getattr(binding, "versions", {}))
    failure = Failure(
        clause, program, features, 4096, versions, hangs=hangs, intermittent=intermittent
    )
    return python_script(binding, Source(target, options), failure)


@pytest.mark.parametrize("clause", _SHARED)
def test_script_fails_on_the_bug_and_passes_without_it(
    clause: str, bare_scripts: ScriptRunner
) -> None:
    streams, length, steps = _SHARED[clause]
    broken = bare_scripts.run(_script(_MEMORY, clause, steps, length, streams))
    assert broken.code == 1, broken.output
    assert f"{clause}: " in broken.output
    assert "expected: " in broken.output
    assert "actual: " in broken.output
    assert bare_scripts.run(_script(_LOCAL, clause, steps, length, streams)).code == 0


@pytest.mark.parametrize("steps", _RIGHT, ids=str)
def test_right_results_of_each_form_pass(steps: list[Any], bare_scripts: ScriptRunner) -> None:
    ran = bare_scripts.run(_script(_LOCAL, "read-byte.value", steps))
    assert ran.code == 0, ran.output


def test_no_bytes_are_right_at_the_end_only_after_a_read_of_any_length(
    bare_scripts: ScriptRunner,
) -> None:
    script = _script(_LOCAL, "read-into.advance", [["read_into", 9, 0, 9], ["read_byte"]])
    assert bare_scripts.run(script).code == 0
    lost = re.sub(r"( at = .*)", r"\1 - 1", script)  # the call returned less than it read
    ran = bare_scripts.run(lost)
    assert ran.code == 1, ran.output
    assert "b'', at 8" in ran.output


def test_script_of_a_file_that_is_iterable_but_no_iterator_iterates(
    bare_scripts: ScriptRunner,
) -> None:
    """As a `File` of Django."""
    script = _script(_LOCAL, "python.iter.lines", [["py_next"]])
    opened = re.search(r"    f = (.*)", script)
    assert opened
    iterable = f"    f = dict.fromkeys({opened[1]})"
    ran = bare_scripts.run(script.replace(opened[0], iterable))
    assert ran.code == 0, ran.output


@pytest.mark.parametrize(
    "step",
    [
        ["read_into", 9, 0, 9],
        ["py_read", -1],
        ["read_vectored", [[0, 2], [7, 2]], "heap", "absent"],
    ],
    ids=lambda step: step[0],
)
def test_stream_that_still_reads_the_content_before_a_truncation_is_right(
    step: list[Any], own_scripts: ScriptRunner
) -> None:
    script = _script("memory", "consistency.either", [["change", "truncate"], step])
    ran = own_scripts.run(script)
    assert ran.code == 0, ran.output


@pytest.mark.parametrize("clause", _RECOMMENDED)
def test_right_results_of_recommended_calls_pass(clause: str, bare_scripts: ScriptRunner) -> None:
    ran = bare_scripts.run(_script(_LOCAL, clause, _RECOMMENDED[clause]))
    assert ran.code == 0, ran.output


@pytest.mark.parametrize(("target", "code"), [(_MEMORY, 1), (_LOCAL, 0)])
def test_script_of_an_intermittent_failure_repeats_its_calls_until_it_comes(
    target: str, code: int, bare_scripts: ScriptRunner
) -> None:
    streams, length, steps = _SHARED["close.state"]
    script = _script(target, "close.state", steps, length, streams, intermittent=True)
    assert is_formatted(script)
    ran = bare_scripts.run(script)
    assert ran.code == code, ran.output
    later = script.replace("while right and next", "while next")
    assert bare_scripts.run(later).code == code


def test_script_of_available_repeats_it_because_it_depends_on_what_has_arrived() -> None:
    steps: list[Any] = [["available"]]
    program = Program.from_json({"length": 9, "streams": 1, "steps": steps})
    assert Failure("available.positive", program, frozenset(), 4096, {}).is_repeated
    assert not Failure("available.positive", Program(9, ()), frozenset(), 4096, {}).is_repeated
    hanging = Failure("available.positive", program, frozenset(), 4096, {}, hangs=True)
    assert not hanging.is_repeated


def test_script_of_a_call_that_hangs_says_where_and_ends_with_1() -> None:
    """Its process ends, so it is none that other scripts share."""
    script = _script(_LOCAL, "read-byte.value", [["read_byte"]], hangs=True)
    assert is_formatted(script)
    hanging = script.replace("(30, ", "(1, ").replace("f.read(1)", "threading.Event().wait()")
    for text, code in ((script, 0), (f"import threading\n\n{hanging}", 1)):
        ran = subprocess.run(
            [sys.executable, "-c", text], capture_output=True, text=True, check=False
        )
        assert ran.returncode == code, ran.stderr
        assert "ends within 30 s" in ran.stdout
    assert "in wait" in ran.stderr


#: Opens of a local file with options of a builder, and as the script opens it.
_OPENED = {
    (("opt_long", "fs.option.openfile.buffer.size", 7),): "fs.open(path, block_size=7)",
    (("opt", "other.key", "x"), ("opt_long", "other.length", "len")): "fs.open(path)",
}


@pytest.mark.parametrize("calls", _OPENED, ids=_OPENED.get)
def test_options_of_an_open_are_arguments(
    calls: tuple[BuilderCall, ...], bare_scripts: ScriptRunner
) -> None:
    script = _script(_LOCAL, "read-byte.value", [["read_byte"]], calls=calls)
    assert f"f = {_OPENED[calls]}\n" in script
    assert is_formatted(script)
    ran = bare_scripts.run(script)
    assert ran.code == 0, ran.output


def test_file_that_is_opened_with_a_status_has_no_script() -> None:
    calls: tuple[BuilderCall, ...] = (("with_file_status", "own", None),)
    with pytest.raises(NoScript, match="with a status"):
        _script(_LOCAL, "read-byte.value", [["read_byte"]], calls=calls)


_MISSED: list[Any] = [["py_seek", -1, 0], ["py_read", 1]]
#: A file whose negative seeks return, and after which reads raise.
_LAX = """
class Lax:
    def __init__(self, file):
        self.file, self.moved = file, False

    def seek(self, position):
        self.moved |= position < 0

    def read(self, size):
        assert not self.moved, "lost"
        return self.file.read(size)


"""


def test_call_that_should_have_raised_may_return_before_a_failure(
    bare_scripts: ScriptRunner,
) -> None:
    script = _script(_LOCAL, "python.read.data", _MISSED)
    assert is_formatted(script)
    assert bare_scripts.run(script).code == 0
    lax = script.replace("DATA =", f"{_LAX}DATA =", 1).replace(
        "fs.open(path)", "Lax(fs.open(path))"
    )
    ran = bare_scripts.run(lax)
    assert ran.code == 1, ran.output
    assert "actual:    AssertionError" in ran.output


def test_bytes_from_anywhere_are_right_after_a_call_that_should_have_raised(
    bare_scripts: ScriptRunner,
) -> None:
    script = _script(_LOCAL, "python.read.data", _MISSED)
    moves = "file.seek(4 if position < 0 else position)"
    lax = f"{_LAX}DATA =".replace("self.moved |= position < 0", f"self.{moves}")
    lax = script.replace("DATA =", lax, 1).replace("fs.open(path)", "Lax(fs.open(path))")
    ran = bare_scripts.run(lax)
    assert ran.code == 0, ran.output


def test_statements_of_earlier_calls_are_made_once(bare_scripts: ScriptRunner) -> None:
    """A second `with` raises, as it should."""
    script = _script(_LOCAL, "python.tell.closed", [["py_with"], ["py_tell"]])
    assert script.count("with f:") == 1
    ran = bare_scripts.run(script)
    assert ran.code == 0, ran.output


@pytest.mark.parametrize("length", [40, 300, 9000])
def test_files_have_the_bytes_of_the_run(length: int, bare_scripts: ScriptRunner) -> None:
    """Those of long files come from a formula."""
    script = _script(_LOCAL, "python.read.all", [["py_read", -1]], length)
    ran = bare_scripts.run(script)
    assert ran.code == 0, ran.output


@pytest.mark.parametrize(
    ("clause", "paths", "how"),
    [("data", ["file"] * 10, "default"), ("return", ["file", "missing"] * 5, "return")],
    ids=["one file", "a missing file"],
)
def test_script_of_ten_ranges_is_formatted(
    clause: str, paths: list[str], how: str, bare_scripts: ScriptRunner
) -> None:
    begins = [*range(10)]
    step = ["fs_cat_ranges", paths, begins, [begin + 3 for begin in begins], how]
    script = _script(_MEMORY, f"filesystem.cat-ranges.{clause}", [step], 40)
    assert max(map(len, script.splitlines())) <= 100
    assert is_formatted(script)
    assert bare_scripts.run(script).code == 0


@pytest.mark.parametrize("step", [["py_read", -1], ["py_readinto", "B", 300]], ids=str)
def test_long_results_show_their_first_difference(
    step: list[Any], bare_scripts: ScriptRunner
) -> None:
    script = _script(_LOCAL, "python.read.all", [step], 300)
    assert is_formatted(script)
    changed = script.replace("(path, DATA)", '(path, DATA[:100] + b"?" + DATA[101:])')
    ran = bare_scripts.run(changed)
    assert ran.code == 1, ran.output
    assert "from 100: expected b'" in ran.output
    assert "got b'?" in ran.output
    assert len(ran.output) < 900


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("pyarrow+file:///tmp", {}),
        ("obstore+memory:///", {}),
        ("obstore+file:///tmp", {}),
        ("opendal+memory:///", {}),
        ("opendal+fs:///tmp", {}),
        ("blockcache::file:///tmp", {"block_size": "16"}),
        ("simplecache::memory://x", {}),
    ],
)
def test_each_api_reads_its_file(
    target: str, options: dict[str, str], bare_scripts: ScriptRunner
) -> None:
    script = _script(target, "seek.pos", [["seek", 3], ["py_read", 2]], options=options)
    ran = bare_scripts.run(script)
    assert ran.code == 0, ran.output
    script = _script(target, "pread.data", [["pread", 3, 2, 0, 2]], options=options)
    assert bare_scripts.run(script).code == 0


@pytest.mark.parametrize(
    "step",
    [
        ["fs_async_cat_file", -3, None],
        ["fs_async_cat", ["other", "missing", "file"], "return"],
        ["fs_async_cat", ["file", "missing"], "raise"],
        ["fs_async_info", "size"],
    ],
    ids=str,
)
def test_coroutines_are_awaited(step: list[Any], bare_scripts: ScriptRunner) -> None:
    ran = bare_scripts.run(_script("asyncwrapper::file:///tmp", "async.info", [step]))
    assert ran.code == 0, ran.output


@pytest.mark.parametrize(
    "step",
    [
        ["pa_read_at", 1, 2],
        ["pa_get_stream", 1, 2],
        ["pa_independent", 1, 3],
        ["pa_read_buffer", 2, 2],
        ["pa_input_stream", 4, 3],
        ["pa_compressed", "detect"],
        ["pa_info", "file", "path"],
        ["pa_infos", ["other", "missing", "file"]],
    ],
    ids=str,
)
def test_calls_of_pyarrow_open_the_file_themselves(
    step: list[Any], bare_scripts: ScriptRunner
) -> None:
    ran = bare_scripts.run(_script("pyarrow+file:///tmp", "arrow.size", [step]))
    assert ran.code == 0, ran.output


@pytest.mark.parametrize("waits", ["sync", "async"])
@pytest.mark.parametrize(
    ("target", "call"),
    [
        ("obstore+memory:///", ["ob_get", 1, 3]),
        ("obstore+memory:///", ["ob_get", 3, 3]),
        ("obstore+memory:///", ["ob_get_result", 2, 99, "range"]),
        ("obstore+memory:///", ["ob_stream", 4]),
        ("obstore+memory:///", ["ob_get_ranges", [3, 0], [4, 2], "length"]),
        ("obstore+memory:///", ["ob_missing", "open_reader"]),
        ("obstore+memory:///", ["ob_reader", 2, None]),
        ("opendal+memory:///", ["od_read", None, None]),
        ("opendal+memory:///", ["od_file", 2, None]),
        ("opendal+memory:///", ["od_exists", "missing"]),
    ],
    ids=str,
)
def test_calls_of_stores_wait_or_are_awaited(
    target: str, call: list[Any], waits: str, bare_scripts: ScriptRunner
) -> None:
    ran = bare_scripts.run(_script(target, "store.stream", [[*call, waits]]))
    assert ran.code == 0, ran.output


@pytest.mark.parametrize(
    ("step", "wrong"), [("lib_parquet", "[:-9]"), ("lib_csv", "[:-9]"), ("lib_zip", "[:-30]")]
)
def test_library_reads_the_file_that_it_wrote(
    step: str, wrong: str, bare_scripts: ScriptRunner
) -> None:
    pytest.importorskip("pyarrow")
    script = _script(_MEMORY, "readers.zip.members", [[step, 3, 40]])
    assert is_formatted(script)
    assert "DATA" not in script
    right = bare_scripts.run(script)
    assert right.code == 0, right.output
    cut = re.sub(r"(fs.pipe_file\(name, .*)\)", rf"\1{wrong})", script)
    assert bare_scripts.run(cut).code == 1


@pytest.mark.parametrize("streams", [1, 2])
def test_streams_of_an_asynchronous_filesystem_of_the_user_are_closed_at_the_end(
    streams: int, own_scripts: ScriptRunner
) -> None:
    """Those that wait for an event loop when they close would wait after it has ended."""
    target = "tests.contract.script.mutant_filesystems:awaited"
    script = _script(target, "python.writable.false", [["py_writable"]], streams=streams)
    names = ["f"] if streams == 1 else ["f1", "f2"]
    assert script.splitlines()[-1 - streams : -1] == [f"{name}.close()" for name in names]
    assert own_scripts.run(script).code == 1
    assert ".close()" not in _script("memory://", "python.writable.false", [["py_writable"]])


def test_script_of_a_missing_library_can_not_run(bare_scripts: ScriptRunner) -> None:
    script = _script(_MEMORY, "close.state", [["close"], ["py_tell"]])
    ran = bare_scripts.run(script.replace("import fsspec", "import no_such_library"))
    assert ran.code == 2
    assert ran.output.startswith("can't run: ModuleNotFoundError")


def test_scripts_are_formatted_and_short(tmp_path: Path) -> None:
    programs: list[tuple[int, int, list[Any]]] = [(1, 9, steps) for steps in _RIGHT]
    programs += _SHARED.values()
    for number, (streams, length, steps) in enumerate(programs):
        for target in (_MEMORY, _LOCAL, "memory"):
            try:
                script = _script(target, "read-byte.value", steps, length, streams)
            except NoScript:
                continue
            assert len(script.splitlines()) <= 40
            (tmp_path / f"{target.partition(':')[0]}{target[:1]}{number}.py").write_text(script)
    assert len([*tmp_path.iterdir()]) > 60
    done = subprocess.run([*RUFF, "--diff", tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_secrets_come_from_environment_variables() -> None:
    options = {"password": "hunter2-long-secret", "block_size": "5"}
    options["client_kwargs"] = '{"key": "hunter2-long-secret"}'
    script = _script(_MEMORY, "close.state", [["py_tell"]], options=options)
    assert "hunter2" not in script
    assert 'options = {"password": os.environ["PASSWORD"], "block_size": 5}' in script
    assert 'options |= {"client_kwargs": json.loads(os.environ["CLIENT_KWARGS"])}' in script
    short = _script(_MEMORY, "close.state", [["py_tell"]], options={"password": "hunter2-long"})
    assert 'password=os.environ["PASSWORD"]' in short


def test_url_with_a_password_comes_from_an_environment_variable() -> None:
    script = _script("simplecache::memory://me:hunter2@x", "close.state", [["py_tell"]])
    assert "hunter2" not in script
    assert 'os.environ["TARGET_URL"]' in script


@pytest.mark.parametrize(
    ("clause", "steps", "reason"),
    [
        ("seek.pos", [], "the program has no calls"),
        ("seek.pos", [["py_tell"]] * 30, "the program has 30 calls, more than 24"),
        ("seek.pos", [["change", "delete"]], "the program does not end with a call"),
        ("read-into.null", [["read_into", None, 0, 1]], "the API has no call for"),
    ],
)
def test_failures_without_a_script_say_why(clause: str, steps: list[Any], reason: str) -> None:
    with pytest.raises(NoScript, match=reason):
        _script(_MEMORY, clause, steps)


def _of_named_file(name: str) -> str:
    at = {"kind": "named", "name": name}
    data = {"length": 5, "streams": 1, "steps": [["py_read", 5]], "at": at}
    features = load_profile("python-file").as_observed({}).features
    failure = Failure("open.name", Program.from_json(data), features, 4096, {})
    return python_script(resolve_target(_LOCAL, {}), Source(_LOCAL), failure)


@pytest.mark.parametrize("name", ["a%20b", " x", "a#b", "a'b", "b\u00e9"])
def test_file_with_an_unusual_name_is_written_beside_the_one_with_the_changed_name(
    name: str, bare_scripts: ScriptRunner
) -> None:
    script = _of_named_file(name)
    assert is_formatted(script)
    right = bare_scripts.run(script)
    assert right.code == 0, right.output


def test_filesystem_that_decodes_names_fails(bare_scripts: ScriptRunner) -> None:
    opened = "fs.open(path)"
    script = _of_named_file("a%20b")
    assert opened in script
    broken = bare_scripts.run(script.replace(opened, 'fs.open(path.replace("%20", " "))'))
    assert broken.code == 1, broken.output
    assert "of an" in broken.output


def test_call_of_which_any_result_is_right_has_no_script() -> None:
    """A script that can't fail would say that the bug is gone."""
    with pytest.raises(NoScript, match="no result of the last call alone is wrong"):
        _script("memory", "capabilities.kept", [["has_capability", ""]])


def test_filesystem_that_drops_white_space_of_names_fails(bare_scripts: ScriptRunner) -> None:
    """Such a name is that of the neighbour, which is written after the file."""
    script = _of_named_file("a ")
    for call in ("fs.pipe_file(path,", "fs.open(path)"):
        assert call in script
        script = script.replace(call, call.replace("path", "path.strip()"))
    broken = bare_scripts.run(script)
    assert broken.code == 1, broken.output


def _after_a_change(change: str, *steps: list[Any]) -> str:
    return _script(_LOCAL, "consistency.opened", [["change", change], ["reopen"], *steps], length=3)


def test_open_after_a_change_is_judged(bare_scripts: ScriptRunner) -> None:
    script = _after_a_change("append")
    assert is_formatted(script)
    assert bare_scripts.run(script).code == 0
    assert script.count("f = fs.open(path)") == 2
    again = "    f = fs.open(path)\n    actual = None"
    assert again in script
    broken = bare_scripts.run(script.replace(again, "    raise ValueError('once only')"))
    assert broken.code == 1, broken.output


@pytest.mark.parametrize("read", [["py_read", 1], ["pread", 0, 1, 0, 1]])
def test_read_of_a_deleted_file_that_is_opened_again_has_to_raise(
    read: list[Any], bare_scripts: ScriptRunner
) -> None:
    script = _after_a_change("delete", read)
    assert is_formatted(script)
    assert bare_scripts.run(script).code == 0
    broken = bare_scripts.run(script.replace("fs.rm(path)", "pass"))
    assert broken.code == 1, broken.output
    assert "the open or the call raises" in broken.output


def test_open_through_a_builder_without_calls_is_a_plain_open(bare_scripts: ScriptRunner) -> None:
    def script(scene: str, steps: list[Any]) -> str:
        opening = {"file": scene, "calls": []}
        data = {"length": 5, "streams": 1, "steps": steps, "open": opening}
        features = load_profile("python-file").as_observed({}).features
        failure = Failure("open.read-fails", Program.from_json(data), features, 4096, {})
        return python_script(resolve_target(_LOCAL, {}), Source(_LOCAL), failure)

    for scene in ("missing", "directory"):
        assert bare_scripts.run(script(scene, [])).code == 0
    plain = script("file", [["py_read", 1]])
    assert "    f = fs.open(path)\n" in plain
    assert bare_scripts.run(plain).code == 0
