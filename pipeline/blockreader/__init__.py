"""Block reader: read blocks of files as records, each record from exactly one block."""
