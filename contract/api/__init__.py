"""Interfaces of Hadoop in Python: filesystems, streams, errors, openFile options, statistics."""
