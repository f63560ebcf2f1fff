"""Checks of file splitters: scenarios, and a model that judges every record that is emitted."""
