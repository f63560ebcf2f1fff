"""Mutants of the document metadata-table: tables that violate one clause each."""
