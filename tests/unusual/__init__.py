"""Implementations that are right in unusual ways; all of them must conform."""
