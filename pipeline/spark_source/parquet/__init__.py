"""Parquet files, read by PyArrow through streams of ours."""
