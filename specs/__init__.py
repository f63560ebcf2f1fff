"""The specification as data: clauses, profiles and vectors."""
