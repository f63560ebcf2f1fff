"""Blocks per second that a splitter plans, and its memory.

    python -m benchmarks.pipeline.plan [--quick] [--blocks N]

Each part runs in a separate process, whose peak memory is that of the whole plan. Nothing waits, so
the times are CPU seconds, and other load on the machine has little effect.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.pipeline.measure import peak_memory
from fscontract.contract.scenarios.instrumented_filesystem import InstrumentedFileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.blocks import FileBlockMetadata, FileInfo
from fscontract.pipeline.splitter.input import FileSplitterInput
from fscontract.pipeline.splitter.splitter import FileSplitterBase
from fscontract.pipeline.splitter.windows import FSWindowStore

BLOCK = 128 << 20
WINDOW = 100_000


class Seen:
    """Number and total bytes of emitted blocks."""

    def __init__(self) -> None:
        self.count = self.size = 0

    def __call__(self, block: FileBlockMetadata) -> None:
        """Count a block."""
        self.count += 1
        self.size += block.size


def fed(blocks: int) -> Seen:
    """Split one file of `blocks` blocks, passed to a splitter."""
    fs, seen = _filesystem(1, blocks), Seen()
    splitter = FileSplitterBase(fs, block_size=BLOCK, blocks_threshold=WINDOW)
    splitter.blocks_metadata_output = seen
    splitter.begin_window(0)
    splitter.put(FileInfo(None, "/in/f0"))
    splitter.end_window()
    _windows(splitter, seen, blocks, splitter.handle_idle_time)
    return seen


def scan(blocks: int) -> Seen:
    """Split one such file that a splitter finds, with stored windows."""
    return _scan(blocks, 1)


def many(blocks: int) -> Seen:
    """Split files of 1,000 blocks each."""
    return _scan(blocks, max(1, blocks // 1000))


def _scan(blocks: int, files: int) -> Seen:
    fs, seen = _filesystem(files, blocks // files), Seen()
    windows = FSWindowStore(MemoryFileSystem(), "/windows")
    splitter = FileSplitterInput(
        fs, "/in", windows=windows, block_size=BLOCK, blocks_threshold=WINDOW
    )
    splitter.blocks_metadata_output = seen
    with splitter:
        splitter.scanner.settle()
        _windows(splitter, seen, blocks // files * files, splitter.emit_tuples)
    return seen


def _windows(splitter: Any, seen: Seen, blocks: int, emit: Callable[[], None]) -> None:
    window = 0
    while seen.count < blocks:
        window += 1
        splitter.begin_window(window)
        emit()
        splitter.end_window()
        committed = getattr(splitter, "committed", None)
        if committed is not None:
            committed(window)


def _filesystem(files: int, blocks: int) -> InstrumentedFileSystem:
    """Return files with a declared length and no content."""
    fs = InstrumentedFileSystem(MemoryFileSystem())
    for number in range(files):
        with fs.create(f"/in/f{number}") as file:
            file.write(b"x")
        fs.stated[f"/in/f{number}"] = {"length": blocks * BLOCK}
    return fs


CASES = {"fed, one file": fed, "found, one file": scan, "found, files of 1,000 blocks": many}


def main(arguments: list[str]) -> None:
    """Run each case with a tenth of the blocks, and with all, in separate processes."""
    parser = argparse.ArgumentParser(description="Plan blocks.")
    parser.add_argument("--quick", action="store_true", help="10^5 blocks, not 10^7")
    parser.add_argument("--blocks", type=int, help="how many (default 10,000,000)")
    parser.add_argument("--case", choices=CASES, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    blocks = options.blocks or (100_000 if options.quick else 10_000_000)
    if options.case:
        _measure(options.case, blocks)
        return
    print(f"load average {os.getloadavg()[0]:.1f}\n")
    print("| | blocks | blocks a second | CPU seconds | peak memory, MiB | before, MiB |")
    print("|---|---|---|---|---|---|", flush=True)
    for case in CASES:
        for count in (blocks // 10, blocks):
            command = [sys.executable, "-m", __spec__.name, "--case", case, "--blocks", str(count)]
            subprocess.run(command, check=True)


def _measure(case: str, blocks: int) -> None:
    before, start = peak_memory(), time.process_time()
    seen = CASES[case](blocks)
    seconds = time.process_time() - start
    assert seen.count == seen.size // BLOCK == blocks
    rate = f"{blocks / seconds:,.0f} | {seconds:.2f}"
    print(f"| {case} | {blocks:,} | {rate} | {peak_memory():.0f} | {before:.0f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
