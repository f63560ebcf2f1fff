"""Spark data source: records of files as rows, in batches and streams."""
