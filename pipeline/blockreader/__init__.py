"""Reading blocks of files as records: each record comes from exactly one block."""
