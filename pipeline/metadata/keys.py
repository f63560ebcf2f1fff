"""Keys of the records of column statistics, which begin with the column and the partition."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from functools import lru_cache

from fscontract.pipeline.metadata.payload import NO_PARTITION
from fscontract.pipeline.metadata.xxhash import xxh64

#: Hudi's seed, a negative number of 32 bits where one of 64 is wanted.
_SEED = 0xFFFFFFFFDABADABA
#: The characters of a hash of 64 bits.
_HASH = 12


def column_prefix(column: str) -> str:
    """What the keys of all statistics of a column begin with."""
    return _hash64(column)


def partition_key(column: str, partition: str) -> str:
    """The key of a partition's statistics, with which those of its files begin."""
    return _hash64(column) + partition_hash(partition)


def partition_hash(partition: str) -> str:
    """What stands for a partition in the keys of the statistics of any column."""
    return _hash64(partition or NO_PARTITION)


def key_partition(key: str) -> str:
    """That part of the key of a file's statistics."""
    return key[_HASH : 2 * _HASH]


def file_key(column: str, partition: str, name: str) -> str:
    """The key of a file's statistics."""
    digest = hashlib.md5(name.encode(), usedforsecurity=False).digest()
    return partition_key(column, partition) + b64encode(digest).decode()


@lru_cache(maxsize=1 << 14)  # of columns and partitions, which the keys of all files have
def _hash64(text: str) -> str:
    return b64encode(xxh64(text.encode(), _SEED).to_bytes(8, "big")).decode()
