"""Reports: functions from the result of a run to text, and the console that prints it.

A module with `render(entries)` makes the text of one format. Reports read events, results and the
comparison with a baseline; they run nothing.
"""
