"""Specification, models, runner and reports: what must hold, as code."""
