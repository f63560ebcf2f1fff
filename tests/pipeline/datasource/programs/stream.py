"""A driver that copies files to a table, line by line, until it is killed: `in` to `out`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from fscontract.implementations.spark.session import local_session
from fscontract.pipeline import register


def start(spark: Any, place: Path, **options: Any) -> Any:
    """The query over a directory, which goes on where the last one ended."""
    reader = spark.readStream.format("fscontract").option("blockSize", "64")
    for name, value in {"maxFilesPerTrigger": 1, "columns": "value,path", **options}.items():
        reader = reader.option(name, value)
    frame = reader.option("windowLocation", str(place / "windows")).load(str(place / "in"))
    writer = frame.writeStream.format("parquet").option("checkpointLocation", str(place / "spark"))
    return writer.trigger(availableNow=True).start(str(place / "out"))


if __name__ == "__main__":
    with local_session("local[2]") as session:
        register(session)
        query = start(session, Path(sys.argv[1]))
        while query.isActive and not query.recentProgress:
            query.awaitTermination(0.02)
        print("one micro-batch is done", flush=True)
        query.awaitTermination()
