"""Checks of the parts of a pipeline: splitter, block reader and metadata table."""
