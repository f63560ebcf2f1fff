"""P2: a pushed filter on Parquet loses NaN."""

import tempfile

import pyarrow
import pyarrow.parquet
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
with tempfile.TemporaryDirectory() as directory:
    table = pyarrow.table({"real": [1.0, float("nan")]})
    pyarrow.parquet.write_table(table, f"{directory}/a.parquet")
    counts = {}
    for pushed in ("true", "false"):
        spark.conf.set("spark.sql.parquet.filterPushdown", pushed)
        frame = spark.read.parquet(directory)
        counts[pushed] = frame.where("real = double('NaN')").count()
assert counts == {"true": 1, "false": 1}, counts
