"""Filesystems that misbehave on purpose."""
