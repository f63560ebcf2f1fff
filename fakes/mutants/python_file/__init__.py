"""Mutants of the document pythonio, one module for each theme."""
