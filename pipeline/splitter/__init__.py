"""The file splitter: files are found, and split into blocks that readers work on."""
