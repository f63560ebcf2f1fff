"""Scenarios of checkpoints: a life ends, and another one goes on."""

from __future__ import annotations

from fscontract.contract.suite.splitter.bench import INPUT, WINDOWS, Bench
from fscontract.contract.suite.splitter.scenario import Scenarios

scenario = Scenarios()


@scenario("split.checkpoint-in-file")
def middle(bench: Bench) -> None:
    """A checkpoint is taken in the middle of a file, which is then deleted."""
    path = bench.write("f")
    life = bench.finding(path, blocks_threshold=2)
    first = life.window(1)
    checkpoint = life.life.checkpoint()
    bench.fs.delete(path)
    again = life.again(checkpoint)
    rest = again.drain(2)
    bounds = [(b.offset, b.length) for window in (first, *rest) for b in window.blocks]
    wanted = [(start, min(start + 2, 11)) for start in range(0, 11, 2)]
    bench.want("split.checkpoint-in-file", bounds, wanted, "blocks of both lives")
    files = [path for window in rest for path in window.paths]
    bench.want("split.checkpoint-in-file", files, [], "files of the second life")


@scenario("split.checkpoint-between")
def inside(bench: Bench) -> None:
    """A checkpoint is asked for while a window is open."""
    bench.write("f")
    life = bench.finding(blocks_threshold=2)
    life.life.begin_window(1)
    life.life.settle()
    life.life.emit_tuples()
    try:
        life.life.checkpoint()
    except Exception:
        bench.want("split.checkpoint-between", True, True)
    else:
        bench.want("split.checkpoint-between", "a checkpoint", "an error inside of a window")


@scenario("split.ids-unique")
def numbered(bench: Bench) -> None:
    """A second life goes on with new files."""
    bench.write("a")
    life = bench.finding()
    ids = [block.block_id for block in life.window(1).blocks]
    bench.write("b")
    ids += [b.block_id for b in life.again(life.life.checkpoint()).window(2).blocks]
    bench.want("split.ids-unique", len(set(ids)), 12, "different ids")


@scenario("split.restored-references")
def remembered(bench: Bench) -> None:
    """A second life finds the files of the first, one of which has changed in between."""
    paths = [bench.write(name, etag="one") for name in ("a", "d/b", "d/c")]
    life = bench.finding((INPUT, paths[0]), windows=WINDOWS)
    life.window(1)
    checkpoint = life.life.checkpoint()
    bench.state(paths[1], etag="two")
    again = life.again(checkpoint)
    bench.want("split.restored-references", again.window(2).paths, [paths[1]], "what is found")
    third = again.again(again.life.checkpoint())
    bench.want("split.restored-references", third.window(3).paths, [], "what a third life finds")


@scenario("split.replayed-references")
def replayed(bench: Bench) -> None:
    """Windows are repeated, behind which nothing is new."""
    for name in ("a", "d/b"):
        bench.write(name)
    life = bench.finding((INPUT, f"{INPUT}/a"), windows=WINDOWS, blocks_threshold=4)
    windows = len(life.drain(1))
    again = life.again()
    again.windows(range(1, windows + 1))
    found = again.window(windows + 1).paths
    bench.want("split.replayed-references", found, [], "files behind the repeated windows")


@scenario("split.unprocessed-again")
def unprocessed(bench: Bench) -> None:
    """A life ends when files were found that it has not emitted."""
    paths = [bench.write(name, 2) for name in ("a", "b", "c")]
    life = bench.finding(blocks_threshold=1, windows=WINDOWS)
    life.window(1)
    again = life.again(life.life.checkpoint())
    found = [path for window in again.drain(2) for path in window.paths]
    bench.want("split.unprocessed-again", found, paths[1:], "files of the second life")
