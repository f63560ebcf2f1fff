"""Runs whose shards are tasks of a backend, such as Spark's executors.

`shard` says which part of a run a task has, `worker` runs it, and `partial_results` records, sends
and merges what it shows. `backend` is the port of what runs tasks, `driver` submits and awaits
them, and `file_visibility` checks that they find the files of the process that submitted them.
"""
