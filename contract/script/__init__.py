"""Failures as scripts in the API that was checked, which run without this package."""
