"""Bindings that run programs as calls of one API."""
