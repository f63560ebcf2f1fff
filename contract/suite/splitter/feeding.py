"""Scenarios of a splitter that is told which files to split."""

from __future__ import annotations

from fscontract.contract.suite.splitter.bench import INPUT, Bench, Window
from fscontract.contract.suite.splitter.scenario import Scenarios

scenario = Scenarios()


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
