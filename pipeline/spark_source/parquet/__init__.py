"""Parquet files in the data source."""
