"""Scenarios of process() and of splitters that are fed files."""

from __future__ import annotations

import tracemalloc

from fscontract.contract.scenarios.splitter.harness import INPUT, Bench, Window, everything
from fscontract.contract.scenarios.splitter.scenario import Scenarios

scenario = Scenarios()
#: Lengths around the boundaries of blocks.
LENGTHS = (0, 1, 2, 3, 4, 5, 11)
#: The blocks of a file that is planned and not read, and the bytes that planning may take.
MANY, MEMORY = 1 << 15, 1 << 18


@scenario()
def plan(bench: Bench) -> None:
    """Files of all lengths are split into blocks of all sizes."""
    for length in LENGTHS:
        bench.write(f"f{length:02}", length)
    for number, size in enumerate((1, 2, 3, 4, 5, 11, 12)):
        bench.finding(block_size=size, operator_id=number).drain(1)


@scenario("split.relative-path")
def names(bench: Bench) -> None:
    """Files lie directly in an input, deeper in it, and are inputs themselves."""
    direct, deep = bench.write("f"), bench.write("a/b/g")
    found = bench.finding((INPUT, deep)).window(1).files
    named = sorted((f.file_path, f.relative_path) for f in found if not f.is_directory)
    wanted = [(deep, "g"), (deep, "in/a/b/g"), (direct, "in/f")]
    bench.want("split.relative-path", named, sorted(wanted), "relative paths")


@scenario("split.uri")
def uris(bench: Bench) -> None:
    """The inputs are URIs."""
    for place, name in ((f"{INPUT}/d", "f"), (INPUT, "g")):
        path = bench.write(f"{place}/{name}")
        bench.known_as(f"s3a://bucket{path}", path)
    inputs = (f"s3a://bucket{INPUT}/d/", f"s3a://bucket{INPUT}/g")
    window = bench.finding(inputs).window(1)
    wanted = [f"s3a://bucket{INPUT}/d/f", f"s3a://bucket{INPUT}/g"]
    bench.want("split.uri", window.paths, wanted, "paths of files")
    paths = list(dict.fromkeys(block.file_path for block in window.blocks))
    bench.want("split.uri", paths, wanted, "paths of blocks")


@scenario()
def offsets(bench: Bench) -> None:
    """The first block starts behind a header, in the first block of the grid or in a later one."""
    for length in LENGTHS:
        bench.write(f"f{length:02}", length)
    for number, offset in enumerate((1, 2, 3, 5, 11)):
        bench.finding(block_size=2, data_offset=offset, operator_id=number).drain(1)


@scenario("split.threshold-fill")
def threshold(bench: Bench) -> None:
    """Twelve files of six blocks, ten blocks in a window."""
    for number in range(12):
        bench.write(f"f{number:02}")
    found = bench.finding(blocks_threshold=10).drain(1, 10)
    counts = [len(window.blocks) for window in found]
    bench.want("split.threshold-fill", counts, [10] * 7 + [2, 0], "blocks in each window")
    bench.want("split.threshold-fill", len([*everything(found)]), 12, "files in all windows")


@scenario("split.threshold")
def often(bench: Bench) -> None:
    """A window in which process() is called several times."""
    bench.write("f", 20)
    counts = [len(bench.finding(blocks_threshold=3).window(1, emits=4).blocks)]
    bench.want("split.threshold", counts, [3], "blocks in a window with four calls")


@scenario("split.uncounted")
def uncounted(bench: Bench) -> None:
    """Many empty files and directories come before a file."""
    for number in range(5):
        bench.write(f"a{number}", 0)
        bench.mkdir(f"b{number}")
    bench.write("c")
    window = bench.finding(blocks_threshold=1).window(1)
    bench.want("split.uncounted", len(window.files), 11, "files in the first window")
    bench.want("split.uncounted", len(window.blocks), 1, "blocks in the first window")


@scenario("split.threshold-default")
def unset(bench: Bench) -> None:
    """The threshold is not configured."""
    bench.write("f")
    window = bench.finding(blocks_threshold=None).window(1)
    bench.want("split.threshold-default", len(window.blocks), 1, "blocks in a window")


@scenario("split.default-block-size")
def default(bench: Bench) -> None:
    """The block size is not configured, and then it is."""
    bench.fs.block_size = 4
    bench.write("f")
    for size, blocks in ((None, 3), (2, 6)):
        number = size or 0
        window = bench.finding(block_size=size, operator_id=number).window(1)
        bench.want("split.default-block-size", len(window.blocks), blocks, f"blocks of {size}")


@scenario("split.settings-valid")
def settings(bench: Bench) -> None:
    """Settings that make no sense."""
    bench.write("f")
    for senseless in ({"block_size": 0}, {"block_size": -1}, {"blocks_threshold": 0}):
        bench.refuses("split.settings-valid", **senseless)


@scenario("split.lazy")
def lazy(bench: Bench) -> None:
    """A file with very many blocks, of which a window takes few."""
    path = bench.write("f", 1)
    bench.state(path, length=MANY)
    life = bench.finding(block_size=1, blocks_threshold=3)
    tracemalloc.start()
    try:
        windows = life.windows(range(1, 4))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    bench.want("split.lazy", [len(w.blocks) for w in windows], [3, 3, 3], "blocks in each window")
    bench.want("split.lazy", peak < MEMORY, True, f"{peak} bytes for {MANY} blocks are few")


@scenario("split.unopened")
def unopened(bench: Bench) -> None:
    """Files are split, found and fed."""
    path = bench.write("f")
    bench.finding().drain(1)
    fed = bench.fed(operator_id=1)
    fed.begin(1)
    fed.put(path)
    fed.end()
    bench.want("split.unopened", bench.fs.opened, [], "files that were opened")


@scenario("split.base-order")
def fed(bench: Bench) -> None:
    """Files are fed, each of them split as it comes, below a directory or by themselves."""
    paths = [bench.write(name) for name in ("b", "a", "c")]
    splitter = bench.fed()
    splitter.begin(1)
    for path in paths[:2]:
        splitter.put(path)
        window = splitter.seen()
        bench.want("split.base-order", window.paths, [path], "what is split when it is put")
        bench.want("split.base-order", len(window.blocks), 6, "its blocks")
    splitter.put("c", INPUT)
    bench.want("split.base-order", splitter.end().paths, paths[2:], "what is split")


@scenario("split.base-idle")
def idle(bench: Bench) -> None:
    """Three files of six blocks are fed in one window of four, and nothing more comes."""
    paths = [bench.write(name) for name in ("a", "b", "c")]
    splitter = bench.fed(blocks_threshold=4)
    splitter.begin(1)
    for path in paths:
        splitter.put(path)
    found = [splitter.end()]
    for number in range(2, 7):
        splitter.begin(number)
        splitter.life.idle()
        splitter.life.idle()
        found.append(splitter.end())
    counts = [len(window.blocks) for window in found]
    bench.want("split.base-idle", counts, [4, 4, 4, 4, 2, 0], "blocks in each window")


@scenario("split.base-missing")
def missing(bench: Bench) -> None:
    """A file is fed that is not there."""
    splitter = bench.fed()
    splitter.begin(1)
    try:
        splitter.put(f"{INPUT}/nothing")
    except FileNotFoundError as error:
        named = f"{INPUT}/nothing" in str(error)
        bench.want("split.base-missing", named, True, "the error names the file")
    else:
        bench.want("split.base-missing", "nothing raised", "FileNotFoundError")


@scenario("split.base-checkpoint")
def restored(bench: Bench) -> None:
    """A new life begins in the middle of a file, with others in the queue."""
    paths = [bench.write(name) for name in ("a", "b", "c")]
    first = bench.fed(blocks_threshold=4)
    first.begin(1)
    for path in paths:
        first.put(path)
    first.end()
    second = bench.fed(first.life.checkpoint(), blocks_threshold=100)
    second.begin(2)
    second.life.idle()
    rest: Window = second.end()
    bench.want("split.base-checkpoint", rest.paths, paths[1:], "files that are left")
    bench.want("split.base-checkpoint", len(rest.blocks), 14, "blocks that are left")
