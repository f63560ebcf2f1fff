"""Run programs on a binding, judge them, and give each clause its outcome."""
