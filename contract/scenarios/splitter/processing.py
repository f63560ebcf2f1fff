"""Scenarios of process() and of splitters that are fed files."""

from __future__ import annotations

import tracemalloc

from fscontract.contract.scenarios.scenario import Scenarios
from fscontract.contract.scenarios.splitter.harness import (
    INPUT,
    SplitterHarness,
    Window,
    everything,
)

scenario = Scenarios[SplitterHarness]()
#: Lengths around the boundaries of blocks.
LENGTHS = (0, 1, 2, 3, 4, 5, 11)
#: Names that mean something else as a URL, as an option, or to other programs.
ODD_NAMES = (
    " a b ",
    "a%20b",
    "a+b",
    "a,b",
    "a:b",
    "a#b?c=d",
    "\xe4\u6f22",
    "\xe9",
    "e\u0301",
    "A",
    "a",
    ".a",
    "_a",
    "-a",
    "[a]*",
    "~",
    "a_COPYING_b",
    "a._COPYING_.b",
)
#: The blocks of a file that is planned but not read, and the bytes that planning may use.
MANY, MEMORY = 1 << 15, 1 << 18
#: The most windows of a huge file, which a wrong splitter may cut into millions of blocks.
_WINDOWS = 10


@scenario(charged="split.cover")
def plan(harness: SplitterHarness) -> None:
    """Files of all lengths are split into blocks of all sizes."""
    for length in LENGTHS:
        harness.write(f"f{length:02}", length)
    for number, size in enumerate((1, 2, 3, 4, 5, 11, 12)):
        harness.finding(block_size=size, operator_id=number).drain(1)


@scenario(charged="split.cover")
def large(harness: SplitterHarness) -> None:
    """A file is longer than 32 bits, or a floating-point number, can hold, also in one block;
    another one has several hundred blocks.
    """
    path = harness.write("a")
    cases = (((1 << 33) + 5, 1 << 30), ((1 << 33) + 5, 3 << 31), ((1 << 53) + 1, 1 << 52))
    for number, (length, size) in enumerate(cases):
        harness.state(path, length=length)
        harness.finding(block_size=size, operator_id=number).drain(1, limit=_WINDOWS)
    harness.write("b", 600)
    harness.write("c", 9)
    harness.state(f"{INPUT}/a", length=11)
    harness.finding(block_size=2, operator_id=2).drain(1)


@scenario("split.relative-path")
def names(harness: SplitterHarness) -> None:
    """Files are directly in an input, deeper in it, and are inputs themselves."""
    direct, deep = harness.write("f"), harness.write("a/b/g")
    files = harness.finding((INPUT, deep)).window(1).files
    paths = sorted((f.file_path, f.relative_path) for f in files if not f.is_directory)
    expected = [(deep, "g"), (deep, "in/a/b/g"), (direct, "in/f")]
    harness.expect(paths, sorted(expected), "relative paths")


@scenario("split.uri")
def uris(harness: SplitterHarness) -> None:
    """The inputs are URIs."""
    for parent, name in ((f"{INPUT}/d", "f"), (INPUT, "g")):
        path = harness.write(f"{parent}/{name}")
        harness.known_as(f"s3a://bucket{path}", path)
    inputs = (f"s3a://bucket{INPUT}/d/", f"s3a://bucket{INPUT}/g")
    window = harness.finding(inputs).window(1)
    expected = [f"s3a://bucket{INPUT}/d/f", f"s3a://bucket{INPUT}/g"]
    harness.expect(sorted(window.paths), expected, "paths of files")
    paths = {block.file_path for block in window.blocks}
    harness.expect(sorted(paths), expected, "paths of blocks")


@scenario("split.uri", "split.recursive", "split.relative-path", "split.scan-once")
def odd_names(harness: SplitterHarness) -> None:
    """Names have spaces, escapes, characters beyond ASCII, or begin with a dot; some of them differ
    in case or in the form of an accent.
    """
    written = {harness.write(f"{name}/{name}") for name in ODD_NAMES}
    life = harness.finding()
    window = life.window(1)
    files = {f.file_path: f.relative_path for f in window.files if not f.is_directory}
    paths = {*files, *(block.file_path for block in window.blocks)}
    harness.expect(sorted(paths - written), [], "paths of no file")
    if paths <= written:
        harness.expect(sorted(written - paths), [], "files not found", clause="split.recursive")
    wrong = [path for path, relative in files.items() if relative != path.removeprefix("/")]
    harness.expect(wrong, [], "files with another relative path", clause="split.relative-path")
    if paths == written:
        life.life.trigger()
        harness.expect(life.window(2).paths, [], "files found again", clause="split.scan-once")


@scenario(charged="split.cover")
def offsets(harness: SplitterHarness) -> None:
    """The data starts behind a header, in the first block of the grid or in a later one."""
    for length in LENGTHS:
        harness.write(f"f{length:02}", length)
    for number, offset in enumerate((1, 2, 3, 5, 11)):
        harness.finding(block_size=2, data_offset=offset, operator_id=number).drain(1)


@scenario("split.threshold-fill")
def threshold(harness: SplitterHarness) -> None:
    """Twelve files of six blocks, ten blocks in a window."""
    for number in range(12):
        harness.write(f"f{number:02}")
    windows = harness.finding(blocks_threshold=10).drain(1, 10)
    counts = [len(window.blocks) for window in windows]
    harness.expect(counts, [10] * 7 + [2, 0], "blocks in each window")
    harness.expect(len([*everything(windows)]), 12, "files in all windows")


@scenario("split.threshold")
def often(harness: SplitterHarness) -> None:
    """A window in which process() is called several times."""
    harness.write("f", 20)
    window = harness.finding(blocks_threshold=3).window(1, emits=4)
    harness.expect(len(window.blocks) <= 3, True, "at most 3 blocks in a window with four calls")


@scenario("split.uncounted")
def uncounted(harness: SplitterHarness) -> None:
    """There are many empty files and directories."""
    for number in range(5):
        harness.write(f"a{number}", 0)
        harness.mkdir(f"b{number}")
    window = harness.finding(blocks_threshold=1).window(1)
    harness.expect(len(window.files), 10, "files in the first window")


@scenario("split.threshold-default")
def unset(harness: SplitterHarness) -> None:
    """The threshold is not configured."""
    harness.write("f")
    window = harness.finding(blocks_threshold=None).window(1)
    harness.expect(len(window.blocks), 1, "blocks in a window")


@scenario("split.default-block-size")
def default(harness: SplitterHarness) -> None:
    """The block size is not configured, and then set."""
    harness.fs.block_size = 4
    harness.write("f")
    for size in (None, 2):
        number = size or 0
        window = harness.finding(block_size=size, operator_id=number).window(1)
        ends = [block.length for block in window.blocks[:1]]
        harness.expect(ends, [size or 4], f"the end of the first block with block_size={size}")


@scenario("split.settings-valid")
def settings(harness: SplitterHarness) -> None:
    """Settings are invalid."""
    harness.write("f")
    for senseless in ({"block_size": 0}, {"block_size": -1}, {"blocks_threshold": 0}):
        harness.expect_refusal(**senseless)


@scenario("split.lazy")
def lazy(harness: SplitterHarness) -> None:
    """A file with very many blocks, of which a window takes few."""
    path = harness.write("f", 1)
    harness.state(path, length=MANY)
    life = harness.finding(block_size=1, blocks_threshold=3)
    tracemalloc.start()
    try:
        windows = life.windows(range(1, 4))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    harness.expect([len(w.blocks) for w in windows], [3, 3, 3], "blocks in each window")
    harness.expect(peak < MEMORY, True, f"{peak} bytes for {MANY} blocks are few")


@scenario("split.unopened")
def unopened(harness: SplitterHarness) -> None:
    """Files are split, found and fed, but not opened."""
    path = harness.write("f")
    harness.finding().drain(1)
    fed = harness.fed(operator_id=1)
    fed.begin(1)
    fed.put(path)
    fed.end()
    harness.expect(list(harness.fs.opened.elements()), [], "files that were opened")


@scenario("split.base-order", "split.empty-file")
def fed(harness: SplitterHarness) -> None:
    """Files are fed, each split on arrival, in a directory or alone; one is empty, and one is fed
    again after a change.
    """
    paths = [harness.write(name) for name in ("b", "a", "c")]
    splitter = harness.fed()
    splitter.begin(1)
    for path in paths[:2]:
        splitter.put(path)
        window = splitter.emitted()
        harness.expect(window.paths, [path], "what is split when it is put")
        harness.expect(len(window.blocks), 6, "its blocks")
    splitter.put("c", INPUT)
    harness.expect(splitter.end().paths, paths[2:], "what is split")
    splitter.begin(2)
    splitter.put(harness.write("empty", 0))
    empty = splitter.emitted().paths
    harness.expect(empty, [f"{INPUT}/empty"], "an empty file", clause="split.empty-file")
    splitter.put(harness.write("b", 3))
    harness.expect(len(splitter.end().blocks), 2, "blocks of a file that is fed again")


@scenario("split.base-idle")
def idle(harness: SplitterHarness) -> None:
    """Three files of six blocks are fed in one window with a threshold of four; no file follows."""
    paths = [harness.write(name) for name in ("a", "b", "c")]
    splitter = harness.fed(blocks_threshold=4)
    splitter.begin(1)
    for path in paths:
        splitter.put(path)
    windows = [splitter.end()]
    for number in range(2, 7):
        splitter.begin(number)
        splitter.life.idle()
        splitter.life.idle()
        windows.append(splitter.end())
    counts = [len(window.blocks) for window in windows]
    harness.expect(counts, [4, 4, 4, 4, 2, 0], "blocks in each window")


@scenario("split.base-missing")
def missing(harness: SplitterHarness) -> None:
    """A file that does not exist is fed."""
    splitter = harness.fed()
    splitter.begin(1)
    try:
        splitter.put(f"{INPUT}/nothing")
    except Exception as error:
        named = f"{INPUT}/nothing" in str(error)
        harness.expect(named, True, "the error names the file")
    else:
        harness.expect("nothing raised", "an error")


@scenario("split.base-checkpoint")
def restored(harness: SplitterHarness) -> None:
    """A new lifetime begins in the middle of a file, with others in the queue."""
    paths = [harness.write(name) for name in ("a", "b", "c", "d", "e", "f")]
    first = harness.fed(blocks_threshold=4)
    first.begin(1)
    for path in paths[:-1]:
        first.put(path)
    first.put("f", INPUT)
    first.end()
    second = harness.fed(first.life.checkpoint(), blocks_threshold=100)
    second.begin(2)
    second.life.idle()
    remaining: Window = second.end()
    harness.expect(remaining.paths, paths[1:], "files that are left")
    harness.expect(len(remaining.blocks), 32, "blocks that are left")
