"""Runs in a child process, so that a target can't end the report.

`parent` starts the processes and keeps what they report, `child` is what they do, `wire` what they
say to each other, and `journal` the memory that tells what a process was doing when it ended.
"""
