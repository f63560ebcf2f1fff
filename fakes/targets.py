"""The named targets whose requests can be made to fail, for runs with `--faults`."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping

from fscontract.contract.binding import Binding
from fscontract.fakes.faulty_local import FaultyLocalFileSystem
from fscontract.implementations.targets import LocalBinding, local_strategy


def local(options: Mapping[str, str]) -> Binding:
    """The local filesystem, whose opens and reads fail by plan; options as without faults."""
    filesystem = FaultyLocalFileSystem(tempfile.gettempdir(), local_strategy(options))
    binding = LocalBinding(filesystem)
    binding.injector = filesystem.injector
    return binding


def s3(options: Mapping[str, str]) -> Binding:
    """An S3 server of moto's behind a proxy, which lets reads fail by plan.

    Options are those of the target s3, which say how to read. A request is given up after a second,
    so that faults that take time don't take much. TargetError.
    """
    from fscontract.fakes.faulty_s3 import FaultyS3Binding

    return FaultyS3Binding(options)
