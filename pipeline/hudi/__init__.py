"""A dataset's metadata table in Hudi's format: which files there are, and what is in them."""
