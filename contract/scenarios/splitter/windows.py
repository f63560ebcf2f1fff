"""Scenarios of windows: replay after a failure, and recovery from what is stored."""

from __future__ import annotations

from collections.abc import Sequence

from fscontract.contract.scenarios.splitter.harness import INPUT, WINDOWS, Bench, Finding, Window
from fscontract.contract.scenarios.splitter.scenario import Scenarios

scenario = Scenarios()
#: Seconds after which any scan is due.
LONG = 1000.0


def _facts(windows: Sequence[Window]) -> list[object]:
    return [window.facts for window in windows]


def _twelve(bench: Bench) -> None:
    for number in range(12):
        bench.write(f"f{number:02}")


@scenario("split.replay-same")
def repeated(bench: Bench) -> None:
    """Eight windows, a failure, and a new life that begins with the first of them."""
    _twelve(bench)
    life = bench.finding(blocks_threshold=10, windows=WINDOWS)
    before = life.windows(range(1, 9))
    after = life.again().windows(range(1, 9))
    bench.want("split.replay-same", _facts(after), _facts(before), "what the windows emit")
    paths = {path for window in after for path in window.paths}
    bench.want("split.replay-same", len(paths), 12, "files in all windows")


@scenario("split.replay-same", "split.checkpoint-in-file")
def partial(bench: Bench) -> None:
    """A file of six blocks, two in a window, and a failure in the middle of it."""
    paths = [bench.write(name) for name in ("a", "b")]
    life = bench.finding(blocks_threshold=2, windows=WINDOWS)
    before = life.window(1)
    again = life.again()
    bench.want("split.replay-same", again.window(1).facts, before.facts, "the repeated window")
    rest = again.windows((2, 3, 4))
    names = [window.paths for window in rest]
    bench.want("split.checkpoint-in-file", names, [[], [], paths[1:]], "files of later windows")
    counts = [{b.file_path for b in window.blocks} for window in rest]
    wanted = [{paths[0]}, {paths[0]}, {paths[1]}]
    bench.want("split.checkpoint-in-file", counts, wanted, "whose blocks later windows have")


def _after_change(bench: Bench, clause: str, path: str, how: str) -> None:
    life = bench.finding(blocks_threshold=4, windows=WINDOWS)
    before = life.windows((1, 2))
    if how == "gone":
        bench.fs.delete(path)
    elif how == "directory":
        bench.fs.delete(path)
        bench.mkdir(path)
    else:
        bench.write(path, 3 if how == "shorter" else 40)
    again = life.again()
    after = again.windows((1, 2))
    bench.want(clause, _facts(after), _facts(before), f"the repeated windows, the file {how}")


@scenario("split.replay-changed")
def longer(bench: Bench) -> None:
    """A file has grown between the failure and the new life."""
    _after_change(bench, "split.replay-changed", bench.write("f"), "longer")


@scenario("split.replay-changed")
def shorter(bench: Bench) -> None:
    """A file has been replaced by a shorter one between the failure and the new life."""
    _after_change(bench, "split.replay-changed", bench.write("f"), "shorter")


@scenario("split.replay-changed")
def swapped(bench: Bench) -> None:
    """A directory has taken the place of a file between the failure and the new life."""
    _after_change(bench, "split.replay-changed", bench.write("f"), "directory")


@scenario("split.replay-gone")
def gone(bench: Bench) -> None:
    """A file has been deleted between the failure and the new life."""
    _after_change(bench, "split.replay-gone", bench.write("f"), "gone")


@scenario("split.replay-directory")
def directories(bench: Bench) -> None:
    """Directories and empty files are in the windows that are repeated."""
    bench.write("a/f", 0)
    bench.mkdir("b")
    bench.state(f"{INPUT}/b", length=4096)
    life = bench.finding(windows=WINDOWS)
    before = life.window(1)
    after = life.again().window(1)
    bench.want("split.replay-directory", after.facts, before.facts, "the repeated window")
    bench.want("split.replay-directory", after.blocks, [], "its blocks")


@scenario("split.replay-settings")
def reconfigured(bench: Bench) -> None:
    """The new life has another threshold, another block size and another pattern."""
    bench.write("a"), bench.write("b")
    life = bench.finding(blocks_threshold=4, windows=WINDOWS)
    before = life.windows((1, 2))
    again = life.again(blocks_threshold=100, block_size=3, file_pattern="none")
    found = []
    for number in (1, 2):  # not judged: the model knows one setting of an operator
        again.life.begin_window(number)
        again.life.emit_tuples()
        again.life.end_window()
        found.append(Window(tuple(again.life.taken())))
    bench.want("split.replay-settings", _facts(found), _facts(before), "the repeated windows")


@scenario("split.replay-alone")
def alone(bench: Bench) -> None:
    """There are new files, and time enough to find them, while windows are repeated."""
    bench.write("a"), bench.write("b")
    life = bench.finding(blocks_threshold=4, windows=WINDOWS)
    before = life.windows((1, 2))
    bench.write("aa")
    scans = bench.fs.asked[f"{INPUT}/"]
    again = life.again()
    again.life.advance(LONG)
    found = [again.window(1, emits=3).facts]
    bench.want("split.replay-alone", bench.fs.asked[f"{INPUT}/"], scans, "scans meanwhile")
    found.append(again.window(2, emits=3).facts)
    bench.want("split.replay-alone", found, _facts(before), "the repeated windows")


@scenario("split.replay-first-live")
def resumed(bench: Bench) -> None:
    """A new file is there when all windows have been repeated."""
    _twelve(bench)
    life = bench.finding(blocks_threshold=10, windows=WINDOWS)
    life.windows(range(1, 9))
    path = bench.write("new")
    again = life.again()
    again.windows(range(1, 9))
    window = again.window(9)
    bench.want("split.replay-first-live", window.paths, [path], "files of the first new window")
    bench.want("split.replay-first-live", len(window.blocks), 6, "its blocks")


@scenario("split.window-empty")
def empty(bench: Bench) -> None:
    """A window has nothing, and after the failure there would be something."""
    life = bench.finding(files=bench.mkdir("/none"), windows=WINDOWS)
    before = life.windows((1, 2))
    bench.write("/none/f")
    after = life.again().windows((1, 2))
    bench.want("split.window-empty", _facts(after), _facts(before), "the repeated windows")


@scenario("split.window-once")
def twice(bench: Bench) -> None:
    """Windows are repeated, and repeated again after a second failure."""
    _twelve(bench)
    life = bench.finding(blocks_threshold=10, windows=WINDOWS)
    before = life.windows((1, 2, 3))
    files = _kept(bench)
    life = life.again()
    life.windows((1, 2))
    bench.want("split.window-once", _kept(bench), files, "what is kept when they are repeated")
    after = life.again().windows((1, 2, 3))
    bench.want("split.window-once", _facts(after), _facts(before), "the windows a third time")


def _kept(bench: Bench, below: str = WINDOWS) -> dict[str, bytes]:
    """The files below a directory, and what is in them."""
    found: dict[str, bytes] = {}
    try:
        children = list(bench.fs.inner.list_status(below))
    except FileNotFoundError:
        return found
    for status in children:
        if status.is_directory:
            found |= _kept(bench, status.path)
        else:
            found[status.path] = _read(bench, status.path)
    return found


def _read(bench: Bench, path: str) -> bytes:
    with bench.fs.inner.open(path) as stream, stream.as_file() as file:
        return file.read() or b""


@scenario("split.window-torn")
def torn(bench: Bench) -> None:
    """The last that was written is cut off at any place, or has a byte that was not written."""
    bench.write("a"), bench.write("b")
    life = bench.finding(blocks_threshold=4, windows=WINDOWS)
    before = life.windows((1, 2))
    kept = _kept(bench)
    life.windows((3,))
    (path, content), *_ = ((p, c) for p, c in _kept(bench).items() if kept.get(p) != c)
    whole = len(kept.get(path, b""))
    new = range(whole, len(content), max(1, (len(content) - whole) // 12))
    damaged = [content[:cut] for cut in (*new, len(content) - 1)]
    damaged.append(content[:-5] + bytes([content[-5] ^ 1]) + content[-4:])
    for torn_one in damaged:
        with bench.fs.create(path) as file:
            file.write(torn_one)
        life = life.again()
        after = life.windows((1, 2))
        bench.want("split.window-torn", _facts(after), _facts(before), "the windows before it")
        bench.want("split.window-torn", len(life.window(3).blocks), 4, "blocks of that window")


@scenario("split.window-purge")
def purged(bench: Bench) -> None:
    """Windows are committed, and the rest is repeated from a checkpoint."""
    _twelve(bench)
    life = bench.finding(blocks_threshold=10, windows=WINDOWS)
    life.windows((1, 2, 3))
    checkpoint = life.life.checkpoint()
    before = life.windows((4, 5))
    size = sum(map(len, _kept(bench).values()))
    life.life.committed(3)
    less = sum(map(len, _kept(bench).values()))
    bench.want("split.window-purge", less < size, True, f"{less} of {size} bytes are less")
    after = life.again(checkpoint).windows((4, 5))
    bench.want("split.window-purge", _facts(after), _facts(before), "the windows after it")


@scenario("split.window-partitions")
def partitions(bench: Bench) -> None:
    """Two operators keep their windows in one place, and one is removed."""
    lives: list[Finding] = []
    before = []
    for number in (1, 2):
        path = bench.write(f"/in{number}/f")
        lives.append(bench.finding(path, operator_id=number, windows=WINDOWS, blocks_threshold=4))
        before.append(lives[-1].windows((1, 2)))
    again = [life.again() for life in lives]
    after = [life.windows((1, 2)) for life in again]
    facts = [_facts(windows) for windows in before]
    bench.want("split.window-partitions", [_facts(w) for w in after], facts, "each one's windows")
    again[1].life.close()
    kept = len(_kept(bench))
    again[0].life.committed(1, removed=[2])
    left = len(_kept(bench))
    bench.want("split.window-partitions", 2 <= left < kept, True, f"{left} files are left")
    again[0].life.committed(2, removed=[2])
    bench.want("split.window-partitions", len(_kept(bench)), 1, "files when 2 is past it, too")


@scenario("split.noop")
def forgotten(bench: Bench) -> None:
    """The splitter keeps no windows, and lives twice."""
    bench.write("f")
    files = _kept(bench, "/")
    life = bench.finding()
    life.window(1)
    bench.want("split.noop", _kept(bench, "/"), files, "what is kept")
    late = bench.write("g")
    found = life.again().window(1).paths
    bench.want("split.noop", found, [f"{INPUT}/f", late], "files of the window another time")


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
