"""Program with a Spark Connect session that reads files, and copies them with a stream."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from fscontract.implementations.spark.session import connect_session
from fscontract.pipeline import register
from tests.pipeline.spark_source.programs.stream import start
from tests.pipeline.spark_source.support import read

if __name__ == "__main__":
    place = Path(sys.argv[1])
    with connect_session() as session:
        register(session)
        batch = read(session, str(place / "in"), columns="value,path", blockSize="64")
        query = start(session, place)
        query.awaitTermination(120)
        copied = session.read.parquet(str(place / "out"))
        found = [sorted(map(tuple, frame.collect())) for frame in (batch, copied)]
        ended = [type(session).__module__, query.isActive]
    print(json.dumps([*found, ended]))
