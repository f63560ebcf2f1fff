"""Mutants of the document fsdatainputstream, one module for each theme."""
