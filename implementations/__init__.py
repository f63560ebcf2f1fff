"""Filesystems that must pass, and bindings to others'."""
