"""Mutants of the document metadatatable: tables that break one clause each."""
