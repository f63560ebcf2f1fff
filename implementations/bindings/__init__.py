"""Bindings: programs as calls of one API."""
