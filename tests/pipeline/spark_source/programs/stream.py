"""Program that copies files to a table, line by line, and stops in the middle of a micro-batch.

`stream.py PLACE STAGE COUNT` copies `in` to `out`. When a stage is reached for the COUNT-th time,
the process that reached it waits to be killed, and the driver prints "held".
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from fscontract.implementations.spark.session import local_session
from fscontract.pipeline.spark_source.source import FsContractDataSource
from fscontract.pipeline.spark_source.streaming import RefusedStreamReader, WindowStreamReader

#: Stages of a micro-batch: its window is stored, but not known to Spark; Spark has stored its
#: offsets, and no task runs; a task has read rows; the next one is about to begin.
STAGES = ("planned", "logged", "read", "committed")


class Hold:
    """Counts how often one stage was reached, in files visible to all processes."""

    def __init__(self, place: Path, stage: str, count: int) -> None:
        self.held = place / "held"
        self._reached = place / "reached"
        self._stage = stage
        self._count = count

    def clear(self) -> None:
        """Reset the count."""
        for path in (self.held, self._reached):
            path.unlink(missing_ok=True)

    def reach(self, stage: str) -> None:
        """Count, and block forever if the count is reached."""
        if stage != self._stage:
            return
        with self._reached.open("ab") as file:
            file.write(b".")
            file.flush()
            reached = file.tell()
        if reached >= self._count:
            self.held.touch()
            threading.Event().wait()


class HeldReader(WindowStreamReader):
    """A reader that reaches the stages."""

    hold: Hold

    def latestOffset(self, start: Any, limit: Any) -> Any:  # noqa: N802 - Spark's name
        """Return one window at a time."""
        found = super().latestOffset(start, limit)
        if found != start:
            self.hold.reach("planned")
        return found

    def partitions(self, start: Any, end: Any) -> list[Any]:
        """Return blocks of a micro-batch whose offsets Spark has stored."""
        self.hold.reach("logged")
        return super().partitions(start, end)

    def read(self, partition: Any) -> Iterator[Any]:
        """Read in a task."""
        for rows in super().read(partition):
            yield rows
            self.hold.reach("read")

    def commit(self, end: Any) -> None:
        """Commit before the next micro-batch."""
        self.hold.reach("committed")
        super().commit(end)


class HeldSource(FsContractDataSource):
    """The source, with a reader that can be held."""

    hold: ClassVar[Hold]

    def streamReader(  # noqa: N802 - Spark's name
        self, schema: Any
    ) -> WindowStreamReader | RefusedStreamReader:
        """Return the reader."""
        reader = super().streamReader(schema)
        reader.__class__ = HeldReader
        reader.hold = self.hold
        return reader


def start(spark: Any, place: Path, **options: Any) -> Any:
    """Start the query over a directory, which continues where the last one ended."""
    reader = spark.readStream.format("fscontract").option("blockSize", "64")
    for name, value in {"maxFilesPerTrigger": 1, "columns": "value,path", **options}.items():
        reader = reader.option(name, value)
    frame = reader.option("windowLocation", str(place / "windows")).load(str(place / "in"))
    writer = frame.writeStream.format("parquet").option("checkpointLocation", str(place / "spark"))
    return writer.trigger(availableNow=True).start(str(place / "out"))


def main(place: Path, stage: str, count: int) -> None:
    """Run the query until it is held."""
    hold = HeldSource.hold = Hold(place, stage, count)
    hold.clear()
    with local_session("local[2]") as session:
        session.dataSource.register(HeldSource)
        query = start(session, place)
        while query.isActive and not hold.held.exists():
            query.awaitTermination(0.02)
        print("held" if hold.held.exists() else f"ended: {query.exception()}", flush=True)
        query.awaitTermination()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
