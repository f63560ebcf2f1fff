"""Arrays that Zarr reads through an fsspec filesystem, and the same as source code.

Zarr writes them to memory. The seed of an array chooses its shape, its chunks, its values, and the
slices that are read, which are compared with those of an array of NumPy.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from random import Random
from typing import Any, NamedTuple

from fscontract.contract.binding import Action
from fscontract.contract.program.filesystem_calls import ZARR_OPERATIONS
from fscontract.contract.program.program import Step
from fscontract.contract.script.calls import Call, Form
from fscontract.contract.script.layout import literal
from fscontract.implementations.bindings.file_operations import Fail
from fscontract.implementations.bindings.filesystem_calls import Target, bind_call
from fscontract.implementations.bindings.fsspec_async import AsyncTwin

#: The number of slices of one array that are read after the whole array.
_SLICES = 3
#: The value of a chunk without a file.
_FILL = -1
#: The names of chunks: all files of an array are in one directory.
_NAMES = {"name": "default", "separator": "."}
#: Zarr makes one request after the other.
_ONE_AT_A_TIME = {"async.concurrency": 1}
_SUFFIX = ".zarr"


def zarr_operations() -> frozenset[str]:
    """Return the operations of ZARR_OPERATIONS if Zarr is installed."""
    return frozenset(ZARR_OPERATIONS) - missing_zarr().keys()


def missing_zarr(only_file: bool = False) -> Mapping[str, str]:
    """Return the operations that a target lacks, each with the reason for reports.

    `only_file` says that the target has one file and can't write others.
    """
    if only_file:
        return dict.fromkeys(ZARR_OPERATIONS, "the target has one file, and can't write others")
    return dict.fromkeys(ZARR_OPERATIONS, "Zarr is not installed") if _is_missing() else {}


def _is_missing() -> bool:
    return find_spec("zarr") is None


def bind_zarr(step: Step, target: Target, twin: AsyncTwin, fail: Fail) -> Action:
    """Return a step of ZARR_OPERATIONS as a function of an object with `path`."""
    array = array_of(step)
    end = f".{step.op}-{step.args[0]}-{step.args[1]}{_SUFFIX}"

    def run(target: Target, path: str, *_args: Any) -> bool | str:
        if getattr(target.filesystem, "async_impl", False):
            return twin.run(lambda fs: array.read(fs, path + end), path)
        return asyncio.run(array.read(_in_threads(target.filesystem), path + end))

    files = {f"{end}/{name}": data for name, data in array.files().items()}
    return bind_call(run, step, target, fail, files)


def _in_threads(filesystem: Any) -> Any:
    """Return an asynchronous filesystem that calls a synchronous one.

    Raise NotImplementedError if fsspec has none for it: an old version has none at all, and that of
    ArrowFSWrapper needs an attribute that PyArrow's local filesystem lacks.
    """
    try:
        from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper

        return AsyncFileSystemWrapper(filesystem, asynchronous=True)
    except Exception as error:
        raise NotImplementedError(f"no asynchronous filesystem: {error}") from error


class Array(NamedTuple):
    """An array of `shape` elements in chunks, each of which has a file or is in a shard."""

    seed: int
    shape: tuple[int, int]
    chunks: tuple[int, int]
    #: The shape of the part of the array that one file has; None for that of a chunk.
    shards: tuple[int, int] | None
    #: The first rows, whose chunks have no files.
    missing: int
    #: What is read, in this order: slices of rows and of columns.
    picks: tuple[tuple[slice, slice], ...]

    def values(self) -> Any:
        """Return the elements as an array of NumPy."""
        import numpy as np

        count = self.shape[0] * self.shape[1]
        values: Any = (self.seed + np.arange(count) * 7919) % 10007
        values = values.reshape(self.shape)
        values[: self.missing] = _FILL
        return values

    def files(self) -> Mapping[str, bytes]:
        """Return the files that Zarr writes, by their names."""
        return _files(self._replace(picks=()))

    async def read(self, filesystem: Any, path: str) -> bool | str:
        """Return True if Zarr reads the written values below a path, else where they differ."""
        import numpy as np
        import zarr
        from zarr.api.asynchronous import open_array
        from zarr.storage import FsspecStore

        store, values = FsspecStore(filesystem, read_only=True, path=path), self.values()
        with zarr.config.set(_ONE_AT_A_TIME):
            array: Any = await open_array(store=store, mode="r", zarr_format=3)
            for pick in self.picks:
                if not np.array_equal(await array.getitem(pick), values[pick]):
                    return f"[{', '.join(map(_slice_text, pick))}]: other values"
        return True


@lru_cache(maxsize=8)
def _files(array: Array) -> Mapping[str, bytes]:
    import zarr

    stored: dict[str, Any] = {}
    made = zarr.create_array(
        stored,
        shape=array.shape,
        chunks=array.chunks,
        shards=array.shards,
        dtype="int64",
        fill_value=_FILL,
        compressors=None,
        chunk_key_encoding=_NAMES,
    )
    made[:] = array.values()
    return {name: data.to_bytes() for name, data in stored.items()}


def array_of(step: Step) -> Array:
    """Return the array that a step of ZARR_OPERATIONS reads."""
    seed, rows = step.args
    draw = Random(seed)
    width = 5 + draw.randrange(7)
    shape = 2 + rows // width, width
    chunks = 1 + shape[0] // draw.randrange(3, 6), 1 + width // 3
    shards = (chunks[0] * 2, chunks[1] * 2) if step.op == "lib_zarr_shards" else None
    missing = chunks[0] if step.op == "lib_zarr_missing" else 0
    drawn = ((_slice(draw, shape[0]), _slice(draw, shape[1])) for _ in range(_SLICES))
    return Array(seed, shape, chunks, shards, missing, ((slice(None), slice(None)), *drawn))


def _slice(draw: Random, size: int) -> slice:
    """Return a slice of at least one element."""
    start = draw.randrange(size)
    return slice(start, draw.randrange(start, size) + 1, draw.choice([1, 1, 2, 3]))


# Source code ---------------------------------------------------------------------------------


def spell_zarr(step: Step) -> Call | None:
    """Return a step as calls of Zarr on the filesystem `fs`; None if it is none."""
    if step.op not in ZARR_OPERATIONS:
        return None
    array = array_of(step)
    rows, columns = array.shape
    count = rows * columns
    shards = f', "shards": {array.shards}' if array.shards else ""
    picks = [f"numpy.s_[{', '.join(map(_slice_text, pick))}]" for pick in array.picks]
    before = (
        f"values = ({array.seed} + numpy.arange({count}) * 7919) % 10007",
        f"values, stored = values.reshape({rows}, {columns}), {{}}",
        *([f"values[:{array.missing}] = {_FILL}"] if array.missing else []),
        f'how = {{"chunks": {array.chunks}, "fill_value": {_FILL}, "compressors": None}}',
        f'how |= {{"chunk_key_encoding": {literal(_NAMES)}{shards}}}',
        "zarr.create_array(stored, shape=values.shape, dtype=values.dtype, **how)[:] = values",
        f'name = path + "{_SUFFIX}"',
        "fs.makedirs(name, exist_ok=True)",
        'for key in stored: fs.pipe_file(f"{name}/{key}", stored[key].to_bytes())',
        f"zarr.config.set({literal(_ONE_AT_A_TIME)})",
        'array = zarr.open_array(fs.get_mapper(name), mode="r", zarr_format=3)',
        f"picks = [{', '.join(picks[:2])}]",
        f"picks += [{', '.join(picks[2:])}]",
    )
    return Call(
        "all(numpy.array_equal(array[pick], values[pick]) for pick in picks)",
        Form.EQUAL,
        before=before,
        imports=("import numpy", "import zarr"),
        shown="zarr.open_array(fs.get_mapper(path))",
    )


def _slice_text(one: slice) -> str:
    start, stop, step = ("" if end is None else end for end in (one.start, one.stop, one.step))
    return f"{start}:{stop}" + (f":{step}" if step not in ("", 1) else "")
