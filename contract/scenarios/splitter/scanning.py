"""Scenarios of the scanner: which files are found, and when."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from fscontract.contract.api.errors import PathIOException
from fscontract.contract.api.filesystem import FileStatus
from fscontract.contract.scenarios.scenario import Scenarios
from fscontract.contract.scenarios.splitter.harness import (
    INPUT,
    FindingHarness,
    SplitterHarness,
    Window,
)

scenario = Scenarios[SplitterHarness]()
#: Seconds between scans, and half of them.
INTERVAL, MOMENT = 10.0, 0.25
#: The files of a long listing, and the time limit of a wait in seconds.
LONG_LISTING, PATIENCE = 100_000, 10.0
#: Directories inside each other, and a name of them; together they exceed 1,024 characters.
DEPTH, LONG_NAME = 70, "directory-with-a-long-name"
#: The files of a directory, more than a page of a listing has in most stores.
MANY = 1100
#: More files than the queue of the splitter holds.
CROWD = 50_000
#: A modification time in a listing, in seconds since 1970.
LONG_AGO = 1_000_000_000.0


def _next(life: FindingHarness, window_id: int) -> list[str]:
    """Return the files of a window after a triggered scan."""
    return _after_trigger(life, window_id).paths


def _after_trigger(life: FindingHarness, window_id: int) -> Window:
    life.life.trigger()
    return life.window(window_id)


@scenario("split.scan-first")
def first(harness: SplitterHarness) -> None:
    """Files exist when the splitter starts, and no time passes."""
    path = harness.write("f")
    paths = harness.finding(scan_interval=INTERVAL).window(1).paths
    harness.expect(paths, [path], "files of the first window")


@scenario("split.scan-async")
def slow(harness: SplitterHarness) -> None:
    """A listing takes longer than the window."""
    path = harness.write("f")
    listing_started, listing_ends = threading.Event(), threading.Event()

    def wait(directory: str, child: str | None) -> None:
        listing_started.set()
        listing_ends.wait(PATIENCE)

    harness.fs.on_list = wait
    life = harness.finding()
    try:
        listing_started.wait(PATIENCE)
        life.life.begin_window(1)
        life.life.emit_tuples()
        life.life.end_window()
    finally:
        listing_ends.set()
    harness.expect(life.emitted().paths, [], "files of the first window")
    harness.expect(life.window(2).paths, [path], "files of the second")


@scenario("split.scan-once")
def once(harness: SplitterHarness) -> None:
    """Nothing changes while scans follow each other."""
    paths = [harness.write(name) for name in ("a", "d/b")]
    harness.mkdir("d/empty")
    life = harness.finding((INPUT, paths[0]))
    life.window(1)
    repeated = [path for number in range(2, 5) for path in _next(life, number)]
    harness.expect(repeated, [], "files that are found again")


@scenario("split.scan-once")
def changed_while_waiting(harness: SplitterHarness) -> None:
    """A file changes after it was found, and before it is split."""
    paths = [harness.write(name, 2) for name in ("a", "b")]
    life = harness.finding(blocks_threshold=1)
    taken = life.window(1).paths
    if len(taken) != 1:  # others judge that
        return
    harness.write(next(path for path in paths if path not in taken), 4)
    files = [file for number in range(2, 8) for file in _after_trigger(life, number).files]
    harness.expect([f.file_length for f in files].count(4), 1, "times its last version is found")


@scenario("split.scan-interval")
def interval(harness: SplitterHarness) -> None:
    """A file is added, and time passes."""
    life = harness.finding(scan_interval=INTERVAL)
    life.window(1)
    path = harness.write("f")
    life.life.advance(INTERVAL - MOMENT)
    early = life.window(2).paths
    life.life.advance(MOMENT)
    harness.expect(early, [], "files before the interval is over")
    harness.expect(life.window(3).paths, [path], "files after the interval")


@scenario("split.trigger")
def trigger(harness: SplitterHarness) -> None:
    """A file is added and no time passes; a scan is triggered, then none."""
    life = harness.finding(scan_interval=INTERVAL)
    life.window(1)
    path = harness.write("f")
    harness.expect(_next(life, 2), [path], "files after the trigger")
    harness.write("g")
    harness.expect(life.window(3).paths, [], "files without another trigger")


@scenario("split.trigger-during")
def during(harness: SplitterHarness) -> None:
    """A scan is triggered during another one, which has already passed the new file."""
    for name in ("a/f", "b/f"):
        harness.write(name)
    passed: list[str] = []
    late_paths: list[str] = []
    life = harness.finding(scan_interval=INTERVAL)
    life.window(1)

    def ask(directory: str, child: str | None) -> None:
        if child is None and directory != INPUT and len(passed) < 2:
            passed.append(directory)
            if len(passed) == 2:
                late_paths.append(harness.write(f"{passed[0]}/late"))
                life.life.trigger()

    harness.fs.on_list = ask
    life.life.trigger()
    paths = [path for number in (2, 3) for path in life.window(number).paths]
    harness.expect(paths, late_paths, "files of the scan after the one in progress")


def _modified(harness: SplitterHarness, clause: str, **says: Any) -> None:
    """Return the result for one of two files with a changed status."""
    before: dict[str, Any] = {"modification_time": LONG_AGO, "etag": "one"}
    path = harness.write("f", **before)
    unchanged = harness.write("g", **before)
    life = harness.finding((INPUT, unchanged))
    life.window(1)
    harness.state(path, **{**before, **says})
    harness.expect(_next(life, 2), [path], "files after the change", clause=clause)
    harness.expect(_next(life, 3), [], "files when nothing has changed since", clause=clause)


@scenario("split.modified-time")
def newer(harness: SplitterHarness) -> None:
    """The modification time of a file increases."""
    for seconds in (1, 0.5):
        _modified(harness, "split.modified-time", modification_time=LONG_AGO + seconds)


@scenario("split.modified-older")
def older(harness: SplitterHarness) -> None:
    """The modification time of a file decreases, by a second, and to a time before 1970."""
    for time in (LONG_AGO - 1, -LONG_AGO):
        _modified(harness, "split.modified-older", modification_time=time)


@scenario("split.modified-size")
def resized(harness: SplitterHarness) -> None:
    """The length of a file changes, also to none, and its time does not."""
    for length in (12, 0):
        _modified(harness, "split.modified-size", length=length)


@scenario("split.modified-size")
def waiting(harness: SplitterHarness) -> None:
    """A file changes while it waits for the splitter, which has found it."""
    paths = [harness.write(name, 2) for name in ("a", "b", "c")]
    life = harness.finding(blocks_threshold=1)
    taken = life.window(1).paths
    path = next(path for path in paths if path not in taken)
    harness.write(path, 5)
    windows = life.drain(2)
    life.life.trigger()
    windows += life.drain(100)
    lengths = [f.file_length for window in windows for f in window.files if f.file_path == path]
    harness.expect(lengths[-1:], [5], "the length that is found last")


@scenario("split.modified-etag")
def retagged(harness: SplitterHarness) -> None:
    """The etag of a file changes, and its time and length do not."""
    _modified(harness, "split.modified-etag", etag="two")


@scenario("split.modified-whole")
def whole(harness: SplitterHarness) -> None:
    """Data is appended to a file."""
    path = harness.write("f", 4)
    life = harness.finding()
    life.window(1)
    harness.write("f", 7)
    life.life.trigger()
    bounds = [(b.file_path, b.offset, b.length) for b in life.window(2).blocks]
    expected = [(path, 0, 2), (path, 2, 4), (path, 4, 6), (path, 6, 7)]
    harness.expect(bounds, expected, "blocks of the longer file")


@scenario("split.modified-nested")
def nested(harness: SplitterHarness) -> None:
    """A file in a deep directory changes, and no directory above it does."""
    path = harness.write("a/b/f", etag="one")
    for directory in (INPUT, f"{INPUT}/a", f"{INPUT}/a/b"):
        harness.state(directory, modification_time=LONG_AGO)
    life = harness.finding()
    life.window(1)
    harness.state(path, etag="two")
    new = harness.write("a/b/g")
    paths = _next(life, 2)
    harness.expect(sorted(paths), [path, new], "files after the change")


@scenario("split.recursive", "split.directory")
def recursive(harness: SplitterHarness) -> None:
    """A tree of directories with files, some of which have the same name, length, time and etag."""
    alike: dict[str, Any] = {"modification_time": LONG_AGO, "etag": "one"}
    paths = [harness.write(name, **alike) for name in ("a/b/f", "a/f", "h")]
    directories = [f"{INPUT}/a", f"{INPUT}/a/b"]
    window = harness.finding().window(1)
    harness.expect(sorted(window.paths), sorted([*directories, *paths]), "what is found")
    flagged = [file.file_path for file in window.files if file.is_directory]
    harness.expect(sorted(flagged), directories, "what is a directory", clause="split.directory")


@scenario("split.recursive")
def deep(harness: SplitterHarness) -> None:
    """A file with a long name is below very many directories."""
    path = harness.write(f"{f'{LONG_NAME}/' * DEPTH}{'f' * 250}")
    window = harness.finding().window(1)
    harness.expect(len(window.paths), DEPTH + 1, "files and directories that are found")
    harness.expect(path in window.paths, True, "the file is one of them")


@scenario("split.recursive")
def numerous(harness: SplitterHarness) -> None:
    """A directory has more than a thousand files."""
    written = {harness.write(f"f{number}", 0) for number in range(MANY)}
    found = {path for window in harness.finding().drain(1) for path in window.paths}
    harness.expect(len(written - found), 0, f"files of {MANY} that are not found")


@scenario("split.recursive")
def dated(harness: SplitterHarness) -> None:
    """Files are added: as old as a known one, older, and with a time in the future."""
    harness.write("f", modification_time=LONG_AGO)
    life = harness.finding()
    life.window(1)
    times = {"as old": LONG_AGO, "older": LONG_AGO - 1, "of the future": 10 * LONG_AGO}
    added = {what: harness.write(what, modification_time=time) for what, time in times.items()}
    found = _next(life, 2)
    for what, path in added.items():
        harness.expect(path in found, True, f"a file that is {what} is found")


@scenario("split.recursive")
def replaced(harness: SplitterHarness) -> None:
    """A file replaces an empty directory."""
    path = harness.mkdir("a")
    harness.write("b")
    life = harness.finding()
    life.window(1)
    harness.fs.delete(path)
    harness.write(path, 3)
    files = [file for file in _after_trigger(life, 2).files if not file.is_directory]
    harness.expect([file.file_path for file in files], [path], "files after the change")


@scenario("split.flat")
def flat(harness: SplitterHarness) -> None:
    """The same tree, and the splitter must not scan sub-directories."""
    harness.write("a/b/f")
    path = harness.write("h")
    paths = harness.finding(recursive=False).window(1).paths
    harness.expect(sorted(paths), [f"{INPUT}/a", path], "what is found")


@scenario("split.name-pattern", "split.pattern-directories")
def pattern(harness: SplitterHarness) -> None:
    """Names must fully match a pattern."""
    path = harness.write("txt/a.txt")
    for name in ("txt/a.txt.bak", "csv.txt.d/b.csv", "csv.txt.d/atxt.c"):
        harness.write(name)
    nested = harness.write("csv.txt.d/d.txt")
    window = harness.finding(file_pattern=r"[a-d]\.txt").window(1)
    files = [file.file_path for file in window.files if not file.is_directory]
    harness.expect(sorted(files), sorted([path, nested]), "files that match")
    directories = [file.file_path for file in window.files if file.is_directory]
    expected = [f"{INPUT}/csv.txt.d", f"{INPUT}/txt"]
    harness.expect(sorted(directories), expected, "directories", clause="split.pattern-directories")


@scenario("split.name-pattern", "split.ignore-pattern")
def alternatives(harness: SplitterHarness) -> None:
    """Patterns have alternatives, names have other case or a line end."""
    taken = [harness.write(f"/names/{name}") for name in ("a", "b.txt")]
    for name in ("ab", "xb.txt", "A", "b.TXT", "a\n"):
        harness.write(f"/names/{name}")
    found = harness.finding("/names", file_pattern=r"a|b\.txt").window(1).paths
    harness.expect(sorted(found), taken, "files that match")
    others = harness.finding("/names", ignore_pattern=r"a|b\.txt", operator_id=1).window(1)
    harness.expect(
        len(others.paths), 5, "files that the other pattern leaves", clause="split.ignore-pattern"
    )


@scenario("split.ignore-pattern")
def ignored(harness: SplitterHarness) -> None:
    """Names must not fully match a pattern."""
    paths = [harness.write(name) for name in ("a.txt", "tmp.txt")]
    harness.write("b.tmp")
    emitted = harness.finding(file_pattern=".*", ignore_pattern=r".*tmp").window(1).paths
    harness.expect(sorted(emitted), paths, "files that are not ignored")


@scenario("split.copying")
def copying(harness: SplitterHarness) -> None:
    """hdfs dfs -put has not finished a file."""
    harness.write("a._COPYING_")
    harness.expect(harness.finding().window(1).paths, [], "files that are found")


@scenario("split.inputs-list")
def inputs(harness: SplitterHarness) -> None:
    """The inputs are a comma-separated list, with empty entries and a duplicate; the path of one
    begins like that of another.
    """
    paths = [harness.write(f"/{name}/f") for name in ("b", "a", "b 2")]
    emitted = harness.finding("/b, /a,, /b/,/b 2").window(1).paths
    harness.expect(sorted(emitted), sorted(paths), "files that are found")
    harness.expect(list(harness.fs.listed), ["/b", "/a", "/b 2"], "what is listed, in order")


@scenario("split.inputs-required")
def none(harness: SplitterHarness) -> None:
    """There is no input."""
    for files in ("", " , ", ()):
        harness.expect_refusal(files=files)


@scenario("split.input-file")
def single(harness: SplitterHarness) -> None:
    """The input is a file, which changes."""
    path = harness.write("f", etag="one")
    life = harness.finding(path)
    scans = [life.window(1).paths, _next(life, 2)]
    harness.state(path, etag="two")
    scans.append(_next(life, 3))
    harness.expect(scans, [[path], [], [path]], "files of three scans")


@scenario("split.overlap")
def overlapping(harness: SplitterHarness) -> None:
    """An input is inside another one, and a file of both changes."""
    path = harness.write("a/f", etag="one")
    life = harness.finding((INPUT, f"{INPUT}/a"))
    harness.expect(life.window(1).paths.count(path), 2, "times a file is found")
    harness.state(path, etag="two")
    harness.expect(_next(life, 2), [path, path], "files after the change")


@scenario("split.empty-input")
def empty_input(harness: SplitterHarness) -> None:
    """An input is an empty directory; then a file is added to it."""
    life = harness.finding()
    scans = [life.window(1).paths, _next(life, 2)]
    path = harness.write("f")
    scans.append(_next(life, 3))
    harness.expect(scans, [[INPUT], [], [path]], "what three scans find")


@scenario("split.vanished")
def vanished(harness: SplitterHarness) -> None:
    """A file and a directory are deleted during their listing."""
    vanishing, *_ = [harness.write(name) for name in ("a/f", "a/z", "b/g", "c/h")]

    def delete(directory: str, child: str | None) -> None:
        if child == vanishing:
            harness.fs.delete(child)
        if directory == f"{INPUT}/b" and child is None:
            harness.fs.delete(directory, recursive=True)

    harness.fs.on_list = delete
    life = harness.finding()
    others = sorted({f"{INPUT}/a/z", f"{INPUT}/c/h"} - {*life.window(1).paths})
    harness.expect(others, [], "other files that are not found")
    harness.expect(_next(life, 2), [], "files after the first scan")
    listed = {path for path in harness.fs.listed if path == f"{INPUT}/c"}
    harness.expect(listed, {f"{INPUT}/c"}, "what is listed after the deleted ones")


@scenario("split.missing-once")
def missing_input(harness: SplitterHarness) -> None:
    """One of two inputs does not exist for several scans; then it appears."""
    path = harness.write("f")
    life = harness.finding(("/nothing", INPUT))
    scans = [life.window(1).paths, _next(life, 2), _next(life, 3)]
    harness.expect(scans, [[path], [], []], "files of three scans")
    harness.expect(list(life.life.missing()), ["/nothing"], "what is reported")
    late = harness.write("/nothing/g")
    harness.expect(_next(life, 4), [late], "files when the input has come")


@scenario("split.consumed")
def consumed(harness: SplitterHarness) -> None:
    """Scans are triggered while files of the last one wait in the queue."""
    written = [harness.write(name, 2) for name in ("a", "b", "c")]
    life = harness.finding(blocks_threshold=1)
    taken = life.window(1).paths
    scans = harness.fs.listed[INPUT]
    life.life.trigger()
    taken += life.window(2).paths
    harness.expect(harness.fs.listed[INPUT], scans, "scans while files wait")
    late = harness.write("d", 2)
    paths = [path for window in life.windows((3, 4)) for path in window.paths]
    left = [path for path in written if path not in taken]
    harness.expect(paths, [*left, late], "files when all have been taken")


@scenario("split.scan-error")
def failing(harness: SplitterHarness) -> None:
    """A listing fails."""
    harness.write("f")

    def fail(directory: str, child: str | None) -> None:
        raise PathIOException(directory, "out of order")

    harness.fs.on_list = fail
    life = harness.finding()
    try:
        paths = life.window(1).paths
    except OSError as error:
        named = "out of order" in str(error)
        harness.expect(named, True, "the error is the listing's")
    else:
        harness.expect(f"files {paths}", "an error in emit_tuples")


@scenario("split.stop")
def stop(harness: SplitterHarness) -> None:
    """Splitters are closed: started twice, idle, and in the middle of a long listing."""
    before = set(threading.enumerate())
    life = harness.finding()
    life.life.start()
    life.window(1)
    life.close()
    harness.expect(_threads(before), 0, "threads that outlive a splitter")
    reached = threading.Event()

    def long(directory: str) -> Iterator[FileStatus]:
        for number in range(LONG_LISTING):
            if number == 10:
                reached.set()
            yield FileStatus(f"{directory}/{number}", 0)

    harness.fs.extra_children = long
    life = harness.finding(file_pattern="none of these")
    harness.expect(reached.wait(PATIENCE), True, "the scan begins")
    life.close()
    harness.expect(_threads(before), 0, "threads that outlive a splitter in a scan")


def _threads(before: set[threading.Thread]) -> int:
    return len([t for t in threading.enumerate() if t not in before and t.is_alive()])


@scenario("split.backpressure")
def crowded(harness: SplitterHarness) -> None:
    """A directory has very many files, and the splitter processes few of them."""
    listed = [0]

    def many(directory: str) -> Iterator[FileStatus]:
        for number in range(CROWD):
            listed[0] = number
            yield FileStatus(f"{directory}/{number:07}", 2, modification_time=LONG_AGO)

    harness.fs.extra_children = many
    life = harness.finding(blocks_threshold=1)
    life.life.begin_window(1)
    life.life.settle()
    harness.expect(listed[0] < CROWD - 1, True, "the scan waits")
