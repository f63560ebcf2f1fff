"""Mutants of the document metadata-table: tables that break one clause each."""
