"""Runs in a process of their own, which a target may end without ending the report.

`parent` starts the processes and keeps what they report, `child` is what they do, `wire` what they
say to each other, and `journal` the memory that tells what a process was doing when it ended.
"""
