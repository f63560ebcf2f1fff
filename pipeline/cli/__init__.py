"""Subcommands `split`, `read` and `metadata`, which import what they need when they run."""
