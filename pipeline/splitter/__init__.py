"""File splitter: find files, and split them into blocks for readers."""
