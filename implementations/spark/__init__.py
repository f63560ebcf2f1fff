"""Streams in Spark's executors, streams that read through Spark tasks, and sessions for both."""
