"""Load the specification: clauses, profiles and files of known failures."""
