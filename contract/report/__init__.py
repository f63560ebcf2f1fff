"""Reports: pure functions from what a run found to text, and the console that prints it."""
