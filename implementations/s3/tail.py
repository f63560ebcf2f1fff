"""The end of an object, whose length need not be known before."""

from __future__ import annotations

from fscontract.implementations.s3.download import Download, Target
from fscontract.implementations.s3.failures import (
    Place,
    RangeNotSatisfiableException,
    UnfitTransportException,
    WrongAnswerException,
)
from fscontract.implementations.s3.retrying import retrying
from fscontract.implementations.s3.source import ByteRange, Cancellation

#: The ways in which a store, or its client, shows that it does not know the last bytes.
_REFUSALS = (RangeNotSatisfiableException, WrongAnswerException, UnfitTransportException)


def read_tail(target: Target, count: int, cancel: Cancellation) -> tuple[int, memoryview]:
    """The last `count` bytes, or all if there are fewer, and where they begin.

    One request: for the last so many bytes, if the length is not known. Some stores don't
    understand that, and are asked for the length first. Errors as in `Download.chunk`.
    """
    download = None
    if target.pin.end(None) is None:
        download = _ask_for_last(target, count, cancel)
    end = target.pin.end(None)
    if end is None:
        end = learn_length(target, cancel)
    start = max(0, end - count)
    if download is None or download.position != start:
        download = Download(target, start, end, cancel)
    view = memoryview(bytearray(end - start))
    try:
        got = download.fill(view)
    finally:
        download.close()
    return start, view[:got]


def _ask_for_last(target: Target, count: int, cancel: Cancellation) -> Download | None:
    """A download of the last bytes; None if the store does not give them."""
    download = Download(target, 0, None, cancel)

    def begin() -> Download | None:
        try:
            download.begin(ByteRange(-count))
        except _REFUSALS as error:  # tried again, it would be refused again
            total = getattr(error, "total", None)
            if total is not None:
                target.pin.ends_at(Place(target.bucket, target.key), total)
            return None
        return download

    try:
        return retrying(begin, target.retries, cancel)
    except BaseException:
        download.close()
        raise


def learn_length(target: Target, cancel: Cancellation) -> int:
    """Return how long the object is, by asking for all of it and taking nothing.

    Errors as in `Download.chunk`.
    """
    download = Download(target, 0, None, cancel)
    try:
        retrying(lambda: download.begin(None), target.retries, cancel)
    finally:
        download.close()
    end = target.pin.end(None)
    if end is None:
        raise WrongAnswerException(
            Place(target.bucket, target.key), "the store does not say how long the object is"
        )
    return end
