"""A Hudi dataset that fscontract writes, and its files as hudi-rs lists them."""

import itertools
import json
import tempfile
from datetime import datetime, timedelta, timezone

from hudi import HudiTableBuilder

from fscontract.hudi import Change, MetadataWriter
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi.commit_metadata import encode_commit
from fscontract.pipeline.hudi.timeline import COMPLETED, Instant, TimelineWriter

START = "20260101000000000"
directory = tempfile.TemporaryDirectory()
fs = LocalFileSystem(directory.name)
seconds = itertools.count()


def clock():
    return datetime(2026, 6, 1, tzinfo=timezone.utc) + timedelta(seconds=next(seconds))


def name(number, instant=START):
    return f"{number:08x}-0000-4000-8000-000000000000-0_0-1-0_{instant}.parquet"


def listed():
    table = HudiTableBuilder.from_base_uri(f"{directory.name}/table").build()
    return sorted(int(each.base_file_name[:8], 16) for each in table.get_file_slices())


columns = [
    {"name": "id", "type": ["null", "long"]},
    {"name": "city", "type": ["null", "string"]},
]
schema = json.dumps({"type": "record", "name": "row", "fields": columns})
instants = TimelineWriter(fs, "/table")
instants.put(Instant(START, "commit", "requested"))
instants.put(Instant(START, "commit", "inflight"))
commit = encode_commit([], "INSERT", {"schema": schema})
instants.put(Instant(START, "commit", COMPLETED, "20260101000001000"), commit)
writer = MetadataWriter(fs, "/table", clock)
properties = {
    "hoodie.table.partition.fields": "city",
    "hoodie.table.keygenerator.type": "SIMPLE",
    "hoodie.datasource.write.hive_style_partitioning": "true",
    "hoodie.table.recordkey.fields": "id",
    "hoodie.table.create.schema": schema,
}
writer.bootstrap(Change({"city=a": {name(n): 600 for n in range(3)}}), "trips", properties)
