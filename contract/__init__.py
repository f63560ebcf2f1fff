"""Specification, models, runner and reports."""

__version__ = "0.2.0"
