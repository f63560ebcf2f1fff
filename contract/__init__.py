"""Specification, models, runner and reports: what must hold, as code."""

__version__ = "0.2.0"
