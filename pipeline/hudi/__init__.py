"""A dataset's metadata table in Hudi's format: listings and column statistics."""
