"""Reports: consumers of the run's events and result."""
