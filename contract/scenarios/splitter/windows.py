"""Scenarios of windows: replay after a failure, and recovery from saved windows."""

from __future__ import annotations

from collections.abc import Sequence

from fscontract.contract.scenarios.scenario import Scenarios
from fscontract.contract.scenarios.splitter.harness import (
    INPUT,
    WINDOWS,
    FindingHarness,
    SplitterHarness,
    Window,
)

scenario = Scenarios[SplitterHarness]()
#: Seconds after which every scan is due.
LONG = 1000.0


def _facts(windows: Sequence[Window]) -> list[object]:
    return [window.facts for window in windows]


def _twelve(harness: SplitterHarness, length: int = 11) -> None:
    for number in range(12):
        harness.write(f"f{number:02}", length)


@scenario("split.replay-same")
def repeated(harness: SplitterHarness) -> None:
    """Twelve windows, a failure, and a new lifetime that begins with the first of them."""
    _twelve(harness)
    life = harness.finding(blocks_threshold=10, windows=WINDOWS)
    before = life.windows(range(1, 13))
    after = life.again().windows(range(1, 13))
    harness.expect(_facts(after), _facts(before), "what the windows emit")
    paths = {path for window in after for path in window.paths}
    harness.expect(len(paths), 12, "files in all windows")


@scenario("split.replay-same", "split.checkpoint-in-file")
def partial(harness: SplitterHarness) -> None:
    """A file of six blocks, two in a window, and a failure in the middle of it."""
    paths = [harness.write(name) for name in ("a", "b")]
    life = harness.finding(blocks_threshold=2, windows=WINDOWS)
    before = life.window(1)
    second = life.again()
    harness.expect(second.window(1).facts, before.facts, "the repeated window")
    first, other = sorted(paths, key=lambda path: path not in before.paths)
    remaining = second.windows((2, 3, 4))
    names = [window.paths for window in remaining]
    harness.expect(
        names, [[], [], [other]], "files of later windows", clause="split.checkpoint-in-file"
    )
    counts = [{b.file_path for b in window.blocks} for window in remaining]
    expected = [{first}, {first}, {other}]
    harness.expect(
        counts, expected, "whose blocks later windows have", clause="split.checkpoint-in-file"
    )


def _after_change(harness: SplitterHarness, clause: str, path: str, how: str) -> None:
    life = harness.finding(blocks_threshold=4, windows=WINDOWS)
    before = life.windows((1, 2))
    if how == "gone":
        harness.fs.delete(path)
    elif how == "directory":
        harness.fs.delete(path)
        harness.mkdir(path)
    else:
        harness.write(path, 3 if how == "shorter" else 40)
    second = life.again()
    after = second.windows((1, 2))
    harness.expect(
        _facts(after), _facts(before), f"the repeated windows, the file {how}", clause=clause
    )


@scenario("split.replay-changed")
def longer(harness: SplitterHarness) -> None:
    """A file has grown between the failure and the new lifetime."""
    _after_change(harness, "split.replay-changed", harness.write("f"), "longer")


@scenario("split.replay-changed")
def shorter(harness: SplitterHarness) -> None:
    """A shorter file has replaced a file between the failure and the new lifetime."""
    _after_change(harness, "split.replay-changed", harness.write("f"), "shorter")


@scenario("split.replay-changed")
def swapped(harness: SplitterHarness) -> None:
    """A directory has replaced a file between the failure and the new lifetime."""
    _after_change(harness, "split.replay-changed", harness.write("f"), "directory")


@scenario("split.replay-gone")
def gone(harness: SplitterHarness) -> None:
    """A file has been deleted between the failure and the new lifetime."""
    _after_change(harness, "split.replay-gone", harness.write("f"), "gone")


@scenario("split.replay-directory")
def directories(harness: SplitterHarness) -> None:
    """Repeated windows contain directories and empty files."""
    harness.write("a/f", 0)
    harness.mkdir("b")
    harness.state(f"{INPUT}/b", length=4096)
    life = harness.finding(windows=WINDOWS)
    before = life.window(1)
    after = life.again().window(1)
    harness.expect(after.facts, before.facts, "the repeated window")
    harness.expect(after.blocks, [], "its blocks")


@scenario("split.replay-settings")
def reconfigured(harness: SplitterHarness) -> None:
    """The new lifetime has another threshold, another block size and another pattern."""
    harness.write("a"), harness.write("b")
    life = harness.finding(blocks_threshold=4, windows=WINDOWS)
    before = life.windows((1, 2))
    second = life.again(blocks_threshold=100, block_size=3, file_pattern="none")
    repeated = []
    for number in (1, 2):  # not judged: the model knows one setting of an operator
        second.life.begin_window(number)
        second.life.emit_tuples()
        second.life.end_window()
        repeated.append(second.unjudged())
    harness.expect(_facts(repeated), _facts(before), "the repeated windows")


@scenario("split.replay-alone")
def alone(harness: SplitterHarness) -> None:
    """There are new files, and time enough to find them, while windows are repeated."""
    harness.write("a"), harness.write("b")
    life = harness.finding(blocks_threshold=4, windows=WINDOWS)
    before = life.windows((1, 2))
    harness.write("aa")
    scans = harness.fs.listed[INPUT]
    second = life.again()
    second.life.advance(LONG)
    repeated = [second.window(1, emits=3).facts]
    harness.expect(harness.fs.listed[INPUT], scans, "scans meanwhile")
    repeated.append(second.window(2, emits=3).facts)
    harness.expect(repeated, _facts(before), "the repeated windows")


@scenario("split.replay-first-live")
def resumed(harness: SplitterHarness) -> None:
    """There is a new file after the last repeated window."""
    _twelve(harness)
    life = harness.finding(blocks_threshold=10, windows=WINDOWS)
    life.windows(range(1, 9))
    path = harness.write("new")
    second = life.again()
    second.windows(range(1, 9))
    window = second.window(9)
    harness.expect(window.paths, [path], "files of the first new window")
    harness.expect(len(window.blocks), 6, "its blocks")


@scenario("split.window-empty")
def empty(harness: SplitterHarness) -> None:
    """A window is empty, and after the failure there is a new file."""
    life = harness.finding(files=harness.mkdir("/none"), windows=WINDOWS)
    before = life.windows((1, 2))
    harness.write("/none/f")
    after = life.again().windows((1, 2))
    harness.expect(_facts(after), _facts(before), "the repeated windows")


@scenario("split.window-once")
def twice(harness: SplitterHarness) -> None:
    """Windows are repeated twice, after two failures."""
    _twelve(harness)
    life = harness.finding(blocks_threshold=10, windows=WINDOWS)
    before = life.windows((1, 2, 3))
    files = _contents(harness)
    life = life.again()
    life.windows((1, 2))
    harness.expect(_contents(harness), files, "what is kept when they are repeated")
    after = life.again().windows((1, 2, 3))
    harness.expect(_facts(after), _facts(before), "the windows a third time")


def _size(harness: SplitterHarness, below: str = WINDOWS) -> int:
    """Return the bytes of the files below a directory."""
    return sum(map(len, _contents(harness, below).values()))


def _contents(harness: SplitterHarness, below: str = WINDOWS) -> dict[str, bytes]:
    """Return the files below a directory with their content."""
    contents: dict[str, bytes] = {}
    try:
        children = list(harness.fs.inner.list_status(below))
    except FileNotFoundError:
        return contents
    for status in children:
        if status.is_directory:
            contents |= _contents(harness, status.path)
        else:
            contents[status.path] = _read(harness, status.path)
    return contents


def _read(harness: SplitterHarness, path: str) -> bytes:
    with harness.fs.inner.open(path) as stream, stream.as_file() as file:
        return file.read() or b""


@scenario("split.window-torn")
def torn(harness: SplitterHarness) -> None:
    """The last saved window is truncated at any position, or has an unwritten byte."""
    harness.write("a"), harness.write("b")
    life = harness.finding(blocks_threshold=4, windows=WINDOWS)
    before = life.windows((1, 2))
    earlier = _contents(harness)
    life.windows((3,))
    (path, content), *_ = ((p, c) for p, c in _contents(harness).items() if earlier.get(p) != c)
    earlier_length = len(earlier.get(path, b""))
    new = range(earlier_length, len(content), max(1, (len(content) - earlier_length) // 12))
    damaged = [content[:cut] for cut in (*new, len(content) - 1)]
    damaged.append(content[:-5] + bytes([content[-5] ^ 1]) + content[-4:])
    for content_torn in damaged:
        with harness.fs.create(path) as file:
            file.write(content_torn)
        life = life.again()
        after = life.windows((1, 2))
        harness.expect(_facts(after), _facts(before), "the windows before it")
        harness.expect(len(life.window(3).blocks), 4, "blocks of that window")


@scenario("split.window-torn")
def torn_in_the_middle(harness: SplitterHarness) -> None:
    """A saved window is truncated, and later ones are whole; this may be an error."""
    harness.write("a"), harness.write("b")
    life = harness.finding(blocks_threshold=4, windows=WINDOWS)
    before, contents = [], [_contents(harness)]
    for number in (1, 2, 3):
        before.append(life.window(number))
        contents.append(_contents(harness))
    first, second, last = contents[1:]
    (path, content), *_ = ((p, c) for p, c in second.items() if first.get(p) != c)
    later = last.get(path, content)[len(content) :]
    with harness.fs.create(path) as file:
        file.write(content[: (len(first.get(path, b"")) + len(content)) // 2] + later)
    harness.judged()
    try:
        life = life.again()
        repeated, after = life.windows((1,)), life.windows((2, 3))
    except Exception:  # a damaged window that others follow may be refused, by any error
        return
    harness.expect(_facts(repeated), _facts(before[:1]), "the window before it")
    blocks = [len(window.blocks) for window in after]
    harness.expect(blocks, [4, 4], "blocks of that window and of the next one")


@scenario("split.window-purge")
def purged(harness: SplitterHarness) -> None:
    """Windows are committed, files change, and the rest is repeated from a checkpoint."""
    _twelve(harness)
    life = harness.finding(blocks_threshold=10, windows=WINDOWS)
    life.windows((7, 8, 9))
    checkpoint = life.life.checkpoint()
    before = life.windows((10, 11))
    size = _size(harness)
    life.life.committed(9)
    less = _size(harness)
    harness.expect(less, min(less, size - 1), "bytes of saved windows at most")
    _twelve(harness, length=3)
    after = life.again(checkpoint).windows((10, 11))
    harness.expect(_facts(after), _facts(before), "the windows after it")


@scenario("split.window-partitions")
def partitions(harness: SplitterHarness) -> None:
    """Three operators save their windows in one place, and one of them is removed."""
    alone = harness.finding(harness.write("f"), operator_id=3, windows=f"{WINDOWS}-alone")
    alone.windows((1, 2))
    alone.life.committed(2)
    rest = len(_contents(harness, f"{WINDOWS}-alone"))
    lives: list[FindingHarness] = []
    before = []
    for number in (1, 2, 21):
        path = harness.write(f"/in{number}/f")
        lives.append(harness.finding(path, operator_id=number, windows=WINDOWS, blocks_threshold=4))
        before.append(lives[-1].windows((1, 2)))
    restarted = [life.again() for life in lives]
    after = [life.windows((1, 2)) for life in restarted]
    facts = [_facts(windows) for windows in before]
    harness.expect([_facts(w) for w in after], facts, "each one's windows")
    restarted[1].close()
    size = _size(harness)
    restarted[0].life.committed(1, removed=[2])
    remaining = _size(harness)
    harness.expect(remaining, min(remaining, size - 1), "bytes of saved windows at most")
    harness.expect(len(_contents(harness)) >= 3, True, "each one's second window is left")
    kept = restarted[2].again()
    restarted[0].life.committed(2, removed=[2])
    harness.expect(_facts(kept.windows((1, 2))), facts[2], "the windows of another operator")
    kept.life.committed(2)
    harness.expect(len(_contents(harness)), 2 * rest, "files when 2 is past it, too")


@scenario("split.noop")
def forgotten(harness: SplitterHarness) -> None:
    """The splitter saves no windows, and is restarted."""
    harness.write("f")
    files = _contents(harness, "/")
    life = harness.finding()
    life.window(1)
    harness.expect(_contents(harness, "/"), files, "what is kept")
    late = harness.write("g")
    paths = life.again().window(1).paths
    harness.expect(sorted(paths), [f"{INPUT}/f", late], "files of the window another time")


@scenario("split.checkpoint-in-file")
def middle(harness: SplitterHarness) -> None:
    """A checkpoint is taken in the middle of a file, which is then deleted."""
    path = harness.write("f")
    life = harness.finding(path, blocks_threshold=2)
    first = life.window(1)
    checkpoint = life.life.checkpoint()
    harness.fs.delete(path)
    second = life.again(checkpoint)
    remaining = second.drain(2)
    bounds = [(b.offset, b.length) for window in (first, *remaining) for b in window.blocks]
    expected = [(start, min(start + 2, 11)) for start in range(0, 11, 2)]
    harness.expect(bounds, expected, "blocks of both lives")
    files = [path for window in remaining for path in window.paths]
    harness.expect(files, [], "files of the second life")


@scenario("split.checkpoint-between")
def inside(harness: SplitterHarness) -> None:
    """A checkpoint is requested during a window."""
    harness.write("f")
    life = harness.finding(blocks_threshold=2)
    life.life.begin_window(1)
    life.life.settle()
    life.life.emit_tuples()
    try:
        life.life.checkpoint()
    except Exception:
        harness.expect(True, True)
    else:
        harness.expect("a checkpoint", "an error inside of a window")


@scenario("split.ids-unique", "split.restored-references")
def numbered(harness: SplitterHarness) -> None:
    """A second lifetime continues with new files, at the end of a file and in the middle of one."""
    for number, threshold in enumerate((100, 4)):
        harness.write(f"/{number}/a")
        life = harness.finding(f"/{number}", blocks_threshold=threshold, operator_id=number)
        windows = [life.window(1)]
        late = harness.write(f"/{number}/b")
        rest = life.again(life.life.checkpoint()).drain(2)
        found = [path for window in rest for path in window.paths]
        harness.expect(
            found, [late], "files of the second life", clause="split.restored-references"
        )
        ids = [block.block_id for window in (*windows, *rest) for block in window.blocks]
        harness.expect(len(set(ids)), len(ids), "different ids")


@scenario("split.restored-references")
def remembered(harness: SplitterHarness) -> None:
    """A second lifetime scans the files of the first, one of which has changed in between."""
    paths = [harness.write(name, etag="one") for name in ("a", "d/b", "d/c")]
    life = harness.finding((INPUT, paths[0]), windows=WINDOWS)
    life.window(1)
    checkpoint = life.life.checkpoint()
    harness.state(paths[1], etag="two")
    second = life.again(checkpoint)
    harness.expect(second.window(2).paths, [paths[1]], "what is found")
    third = second.again(second.life.checkpoint())
    harness.expect(third.window(3).paths, [], "what a third life finds")


@scenario("split.replayed-references")
def replayed(harness: SplitterHarness) -> None:
    """Windows are repeated, and there are no new files."""
    for name in ("a", "d/b"):
        harness.write(name)
    life = harness.finding((INPUT, f"{INPUT}/a"), windows=WINDOWS, blocks_threshold=4)
    windows = len(life.drain(1))
    second = life.again()
    second.windows(range(1, windows + 1))
    repeated = second.window(windows + 1).paths
    harness.expect(repeated, [], "files behind the repeated windows")


@scenario("split.unprocessed-again")
def unprocessed(harness: SplitterHarness) -> None:
    """A lifetime ends with found files that it has not emitted."""
    paths = [harness.write(name, 2) for name in ("a", "b", "c")]
    life = harness.finding(blocks_threshold=1, windows=WINDOWS)
    emitted = life.window(1).paths
    second = life.again(life.life.checkpoint())
    repeated = [path for window in second.drain(2) for path in window.paths]
    left = [path for path in paths if path not in emitted]
    harness.expect(sorted(repeated), left, "files of the second life")
