"""File splitter: finds files, and splits them into blocks for readers."""
