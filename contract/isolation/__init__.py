"""Runs in a child process, so that a target can't end the report.

`supervisor` starts the processes and keeps what they report, `worker` is what they do, `protocol`
what they say to each other, `process` one process as its parent sees it, and `journal` the memory
that says what a process was doing when it ended.
"""
