"""Subcommands `split`, `read` and `metadata`."""
