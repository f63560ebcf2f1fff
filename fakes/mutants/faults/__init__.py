"""Mutants of the document faults: streams that do wrong when their requests fail."""
