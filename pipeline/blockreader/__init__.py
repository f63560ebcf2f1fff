"""Block reader: reads blocks of files as records, each record from exactly one block."""
