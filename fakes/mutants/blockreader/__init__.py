"""Mutants of the document blockreader: readers of blocks that break one clause each."""
