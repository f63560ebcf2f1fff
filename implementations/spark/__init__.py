"""Spark support: streams in executors, streams that read through Spark tasks, and sessions."""
