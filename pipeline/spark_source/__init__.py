"""The data source `fscontract` of Spark: records of files as DataFrames, batch and streaming."""
