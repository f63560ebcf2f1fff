"""Mutants: parts that violate one clause each, in one module or package per kind of part."""
