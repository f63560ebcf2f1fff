"""Metadata table of a dataset in Hudi's format: listings and column statistics."""
