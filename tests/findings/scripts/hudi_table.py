"""A Hudi dataset that fscontract writes, and its files as hudi-rs lists them."""

import json
import tempfile

from hudi import HudiTableBuilder

from fscontract.hudi import Change, MetadataWriter
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi.commit_metadata import encode_commit
from fscontract.pipeline.hudi.timeline import COMPLETED, Instant, TimelineWriter

START = "20260101000000000"
directory = tempfile.TemporaryDirectory()
fs = LocalFileSystem(directory.name)


def name(number, instant=START):
    return f"{number:08x}-0000-4000-8000-000000000000-0_0-1-0_{instant}.parquet"


def listed():
    table = HudiTableBuilder.from_base_uri(f"{directory.name}/table").build()
    return sorted(int(each.base_file_name[:8], 16) for each in table.get_file_slices())


columns = [{"name": n, "type": ["null", t]} for n, t in (("id", "long"), ("city", "string"))]
schema = json.dumps({"type": "record", "name": "row", "fields": columns})
instants = TimelineWriter(fs, "/table")
for state in ("requested", "inflight"):
    instants.put(Instant(START, "commit", state))
completed = Instant(START, "commit", COMPLETED, "20260101000001000")
instants.put(completed, encode_commit([], "INSERT", {"schema": schema}))
writer = MetadataWriter(fs, "/table")
table = {"partition.fields": "city", "keygenerator.type": "SIMPLE", "recordkey.fields": "id"}
properties = {f"hoodie.table.{key}": value for key, value in table.items()}
properties["hoodie.table.create.schema"] = schema
properties["hoodie.datasource.write.hive_style_partitioning"] = "true"
writer.bootstrap(Change({"city=a": {name(n): 600 for n in range(3)}}), "trips", properties)
