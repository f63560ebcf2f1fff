"""Mutants of the document python-file, one module for each theme."""
