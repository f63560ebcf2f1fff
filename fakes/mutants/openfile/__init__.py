"""Mutants of Hadoop's openFile()."""
