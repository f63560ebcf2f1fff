"""P1: the scans of a frame share the filters of the last one."""

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition, LessThan


class Reader(DataSourceReader):
    below, least = 10, 0

    def pushFilters(self, filters):
        for each in filters:
            if isinstance(each, LessThan):
                self.below = each.value
            elif type(each).__name__ == "GreaterThanOrEqual":
                self.least = each.value
        return []

    def partitions(self):
        return [InputPartition((self.least, self.below))]

    def read(self, partition):
        return ((n,) for n in range(*partition.value))


class Numbers(DataSource):
    def schema(self):
        return "n int"

    def reader(self, schema):
        return Reader()


spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
spark.dataSource.register(Numbers)
frame = spark.read.format("Numbers").load()
union = frame.where("n < 3").union(frame.where("n >= 8"))
rows = sorted(row.n for row in union.collect())
assert rows == [0, 1, 2, 8, 9], rows
