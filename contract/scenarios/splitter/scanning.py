"""Scenarios of the scanner: which files are found, and when."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from fscontract.contract.api.errors import PathIOException
from fscontract.contract.api.filesystem import FileStatus
from fscontract.contract.scenarios.splitter.harness import INPUT, Bench, Finding
from fscontract.contract.scenarios.splitter.scenario import Scenarios

scenario = Scenarios()
#: Seconds between scans, and half of them.
INTERVAL, HALF = 10.0, 5.0
#: More files than any scan may go on to list once it is told to end, and the patience in seconds.
ENDLESS, PATIENCE = 100_000, 10.0
#: More files than may wait for the splitter.
CROWD = 50_000
#: A time that a listing says, in seconds since 1970.
LONG_AGO = 1_000_000_000.0


def _next(life: Finding, window_id: int) -> list[str]:
    """The files of a window after a triggered scan."""
    life.life.trigger()
    return life.window(window_id).paths


@scenario("split.scan-first")
def first(bench: Bench) -> None:
    """Files are there when the splitter starts, and no time passes."""
    path = bench.write("f")
    found = bench.finding(scan_interval=INTERVAL).window(1).paths
    bench.want("split.scan-first", found, [path], "files of the first window")


@scenario("split.scan-async")
def slow(bench: Bench) -> None:
    """A listing does not end before the window has."""
    path = bench.write("f")
    begun, ended = threading.Event(), threading.Event()

    def wait(directory: str, child: str | None) -> None:
        begun.set()
        ended.wait(PATIENCE)

    bench.fs.on_list = wait
    life = bench.finding()
    try:
        begun.wait(PATIENCE)
        life.life.begin_window(1)
        life.life.emit_tuples()
        life.life.end_window()
    finally:
        ended.set()
    bench.want("split.scan-async", life.seen().paths, [], "files of the first window")
    bench.want("split.scan-async", life.window(2).paths, [path], "files of the second")


@scenario("split.scan-once")
def once(bench: Bench) -> None:
    """Nothing changes while scans follow each other."""
    paths = [bench.write(name) for name in ("a", "d/b")]
    bench.mkdir("d/empty")
    life = bench.finding((INPUT, paths[0]))
    life.window(1)
    again = [path for number in range(2, 5) for path in _next(life, number)]
    bench.want("split.scan-once", again, [], "files that are found again")


@scenario("split.scan-interval")
def interval(bench: Bench) -> None:
    """A file comes, and time passes."""
    life = bench.finding(scan_interval=INTERVAL)
    life.window(1)
    path = bench.write("f")
    life.life.advance(HALF)
    early = life.window(2).paths
    life.life.advance(HALF)
    bench.want("split.scan-interval", early, [], "files before the interval is over")
    bench.want("split.scan-interval", life.window(3).paths, [path], "files after the interval")


@scenario("split.trigger")
def trigger(bench: Bench) -> None:
    """A file comes, no time passes, and a scan is asked for, then none."""
    life = bench.finding(scan_interval=INTERVAL)
    life.window(1)
    path = bench.write("f")
    bench.want("split.trigger", _next(life, 2), [path], "files after the trigger")
    bench.write("g")
    bench.want("split.trigger", life.window(3).paths, [], "files without another trigger")


@scenario("split.trigger-during")
def during(bench: Bench) -> None:
    """A scan is asked for while one is in progress, and past what comes then."""
    bench.write("b/f")
    bench.mkdir("a")
    asked: list[str] = []
    life = bench.finding(scan_interval=INTERVAL)
    life.window(1)

    def ask(directory: str, child: str | None) -> None:
        if directory == f"{INPUT}/b" and child is None and not asked:
            asked.append(bench.write("a/late"))
            life.life.trigger()

    bench.fs.on_list = ask
    life.life.trigger()
    found = [path for number in (2, 3) for path in life.window(number).paths]
    bench.want("split.trigger-during", found, asked, "files of the scan after the one in progress")


def _modified(bench: Bench, clause: str, **says: Any) -> None:
    """One of two files is another one, by what listings say of it then."""
    before: dict[str, Any] = {"modification_time": LONG_AGO, "etag": "one"}
    path = bench.write("f", **before)
    other = bench.write("g", **before)
    life = bench.finding((INPUT, other))
    life.window(1)
    bench.state(path, **{**before, **says})
    bench.want(clause, _next(life, 2), [path], "files after the change")
    bench.want(clause, _next(life, 3), [], "files when nothing has changed since")


@scenario("split.modified-time")
def newer(bench: Bench) -> None:
    """The time of a file becomes a later one."""
    _modified(bench, "split.modified-time", modification_time=LONG_AGO + 1)


@scenario("split.modified-older")
def older(bench: Bench) -> None:
    """The time of a file becomes an earlier one."""
    _modified(bench, "split.modified-older", modification_time=LONG_AGO - 1)


@scenario("split.modified-size")
def resized(bench: Bench) -> None:
    """A file has another length, and the same time."""
    _modified(bench, "split.modified-size", length=12)


@scenario("split.modified-etag")
def retagged(bench: Bench) -> None:
    """A file has another etag, the same time and the same length."""
    _modified(bench, "split.modified-etag", etag="two")


@scenario("split.modified-whole")
def whole(bench: Bench) -> None:
    """Something is appended to a file."""
    path = bench.write("f", 4)
    life = bench.finding()
    life.window(1)
    bench.write("f", 7)
    life.life.trigger()
    bounds = [(b.file_path, b.offset, b.length) for b in life.window(2).blocks]
    wanted = [(path, 0, 2), (path, 2, 4), (path, 4, 6), (path, 6, 7)]
    bench.want("split.modified-whole", bounds, wanted, "blocks of the longer file")


@scenario("split.modified-nested")
def nested(bench: Bench) -> None:
    """A file deep below changes, and no directory on the way says so."""
    path = bench.write("a/b/f", etag="one")
    for directory in (INPUT, f"{INPUT}/a", f"{INPUT}/a/b"):
        bench.state(directory, modification_time=LONG_AGO)
    life = bench.finding()
    life.window(1)
    bench.state(path, etag="two")
    new = bench.write("a/b/g")
    found = _next(life, 2)
    bench.want("split.modified-nested", found, [path, new], "files after the change")


@scenario("split.recursive", "split.directory")
def recursive(bench: Bench) -> None:
    """A tree of directories with files."""
    paths = [bench.write(name) for name in ("a/b/f", "a/g", "h")]
    directories = [f"{INPUT}/a", f"{INPUT}/a/b"]
    found = bench.finding().window(1)
    bench.want("split.recursive", found.paths, [*directories, *paths], "what is found, in order")
    flagged = [file.file_path for file in found.files if file.is_directory]
    bench.want("split.directory", flagged, directories, "what is a directory")


@scenario("split.flat")
def flat(bench: Bench) -> None:
    """The same, and the splitter is not to look below directories."""
    bench.write("a/b/f")
    path = bench.write("h")
    found = bench.finding(recursive=False).window(1).paths
    bench.want("split.flat", found, [f"{INPUT}/a", path], "what is found")


@scenario("split.name-pattern", "split.pattern-directories")
def pattern(bench: Bench) -> None:
    """Names have to match a pattern wholly."""
    path = bench.write("txt/a.txt")
    for name in ("txt/a.txt.bak", "csv.txt.d/b.csv", "csv.txt.d/atxt.c"):
        bench.write(name)
    kept = bench.write("csv.txt.d/d.txt")
    found = bench.finding(file_pattern=r"[a-d]\.txt").window(1)
    files = [file.file_path for file in found.files if not file.is_directory]
    bench.want("split.name-pattern", sorted(files), sorted([path, kept]), "files that match")
    directories = [file.file_path for file in found.files if file.is_directory]
    wanted = [f"{INPUT}/csv.txt.d", f"{INPUT}/txt"]
    bench.want("split.pattern-directories", directories, wanted, "directories")


@scenario("split.ignore-pattern")
def ignored(bench: Bench) -> None:
    """Names must not match a pattern wholly."""
    paths = [bench.write(name) for name in ("a.txt", "tmp.txt")]
    bench.write("b.tmp")
    found = bench.finding(file_pattern=".*", ignore_pattern=r".*tmp").window(1).paths
    bench.want("split.ignore-pattern", found, paths, "files that are not ignored")


@scenario("split.copying")
def copying(bench: Bench) -> None:
    """A file is there that hdfs dfs -put has not finished."""
    bench.write("a._COPYING_")
    bench.want("split.copying", bench.finding().window(1).paths, [], "files that are found")


@scenario("split.inputs-list")
def inputs(bench: Bench) -> None:
    """The inputs are a list in a text, with empty entries and one twice."""
    paths = [bench.write(f"/{name}/f") for name in ("b", "a")]
    found = bench.finding("/b, /a,, /b/,").window(1).paths
    bench.want("split.inputs-list", found, paths, "files that are found")


@scenario("split.inputs-required")
def none(bench: Bench) -> None:
    """There is no input."""
    for files in ("", " , ", ()):
        bench.refuses("split.inputs-required", files=files)


@scenario("split.input-file")
def single(bench: Bench) -> None:
    """The input is a file, which changes."""
    path = bench.write("f", etag="one")
    life = bench.finding(path)
    found = [life.window(1).paths, _next(life, 2)]
    bench.state(path, etag="two")
    found.append(_next(life, 3))
    bench.want("split.input-file", found, [[path], [], [path]], "files of three scans")


@scenario("split.overlap")
def overlapping(bench: Bench) -> None:
    """An input lies in another one, and a file in both changes."""
    path = bench.write("a/f", etag="one")
    life = bench.finding((INPUT, f"{INPUT}/a"))
    bench.want("split.overlap", life.window(1).paths.count(path), 2, "times a file is found")
    bench.state(path, etag="two")
    bench.want("split.overlap", _next(life, 2), [path, path], "files after the change")


@scenario("split.empty-input")
def empty_input(bench: Bench) -> None:
    """An input is an empty directory, and then has a file."""
    life = bench.finding()
    found = [life.window(1).paths, _next(life, 2)]
    path = bench.write("f")
    found.append(_next(life, 3))
    bench.want("split.empty-input", found, [[INPUT], [], [path]], "what three scans find")


@scenario("split.vanished")
def vanished(bench: Bench) -> None:
    """A file, and a directory, are deleted while they are listed."""
    for name in ("a/f", "b/g", "c/h"):
        bench.write(name)

    def delete(directory: str, child: str | None) -> None:
        if directory == f"{INPUT}/a" and child is not None:
            bench.fs.delete(child)
        if directory == f"{INPUT}/b" and child is None:
            bench.fs.delete(directory, recursive=True)

    bench.fs.on_list = delete
    life = bench.finding()
    life.window(1)
    bench.want("split.vanished", _next(life, 2), [], "files after the first scan")
    found = {path for path, seen in bench.fs.asked.items() if seen and path == f"{INPUT}/c/"}
    bench.want("split.vanished", found, {f"{INPUT}/c/"}, "what is listed after the deleted ones")


@scenario("split.missing-once")
def missing_input(bench: Bench) -> None:
    """One of two inputs is not there, for several scans, and then it is."""
    path = bench.write("f")
    life = bench.finding(("/nothing", INPUT))
    found = [life.window(1).paths, _next(life, 2), _next(life, 3)]
    bench.want("split.missing-once", found, [[path], [], []], "files of three scans")
    bench.want("split.missing-once", list(life.life.missing()), ["/nothing"], "what is reported")
    late = bench.write("/nothing/g")
    bench.want("split.missing-once", _next(life, 4), [late], "files when the input has come")


@scenario("split.consumed")
def consumed(bench: Bench) -> None:
    """Scans are asked for while files of the last one wait for the splitter."""
    for name in ("a", "b", "c"):
        bench.write(name, 2)
    life = bench.finding(blocks_threshold=1)
    life.window(1)
    scans = bench.fs.asked[f"{INPUT}/"]
    life.life.trigger()
    life.window(2)
    bench.want("split.consumed", bench.fs.asked[f"{INPUT}/"], scans, "scans while files wait")
    late = bench.write("d", 2)
    found = [path for window in life.windows((3, 4)) for path in window.paths]
    bench.want("split.consumed", found, [f"{INPUT}/c", late], "files when all have been taken")


@scenario("split.scan-error")
def failing(bench: Bench) -> None:
    """A listing fails."""
    bench.write("f")

    def fail(directory: str, child: str | None) -> None:
        raise PathIOException(directory, "out of order")

    bench.fs.on_list = fail
    life = bench.finding()
    try:
        found = life.window(1).paths
    except OSError as error:
        said = "out of order" in str(error)
        bench.want("split.scan-error", said, True, "the error is the listing's")
    else:
        bench.want("split.scan-error", f"files {found}", "an error in emit_tuples")


@scenario("split.stop")
def stop(bench: Bench) -> None:
    """Splitters are closed: started twice, resting, and in the middle of a long listing."""
    before = set(threading.enumerate())
    life = bench.finding()
    life.life.start()
    life.window(1)
    life.life.close()
    bench.want("split.stop", _threads(before), 0, "threads that outlive a splitter")
    reached, listed = threading.Event(), [0]

    def endless(directory: str) -> Iterator[FileStatus]:
        for number in range(ENDLESS):
            listed[0] = number
            if number == 10:
                reached.set()
            yield FileStatus(f"{directory}/{number}", 0)

    bench.fs.more = endless
    life = bench.finding(file_pattern="none of these")
    bench.want("split.stop", reached.wait(PATIENCE), True, "the scan begins")
    life.life.close()
    bench.want("split.stop", _threads(before), 0, "threads that outlive a splitter in a scan")
    bench.want("split.stop", listed[0] < ENDLESS - 1, True, "the scan is broken off")


def _threads(before: set[threading.Thread]) -> int:
    return len([t for t in threading.enumerate() if t not in before and t.is_alive()])


@scenario("split.backpressure")
def crowded(bench: Bench) -> None:
    """A directory has very many files, and the splitter takes few of them."""
    listed = [0]

    def many(directory: str) -> Iterator[FileStatus]:
        for number in range(CROWD):
            listed[0] = number
            yield FileStatus(f"{directory}/{number:07}", 2)

    bench.fs.more = many
    life = bench.finding(blocks_threshold=1)
    life.life.begin_window(1)
    life.life.settle()
    bench.want("split.backpressure", listed[0] < CROWD - 1, True, "the scan waits")
