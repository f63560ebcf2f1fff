"""Mutants: parts that break one clause each, in a module or package for each kind of part."""
