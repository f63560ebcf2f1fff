"""Mutants of the document blockreader: block readers that violate one clause each."""
