"""Runs in a child process, so that the report survives a crash of the target.

`supervisor` starts the processes and keeps their results, `worker` is the code of a child process,
`protocol` defines their messages, `process` represents one process in its parent, and `journal` is
the shared memory that records the running call for crash reports.
"""
