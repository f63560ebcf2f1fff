"""Mutants of the document executors: what an executor sees of a driver's files."""
