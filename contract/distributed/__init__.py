"""Runs whose shards are tasks of a backend, such as Spark's executors.

`shard` assigns programs and checks to tasks, `worker` runs a task, and `partial_results` records,
sends and merges the results. `backend` is the port of task runners, `driver` submits tasks and
waits for them, and `file_visibility` checks that tasks find the files of the submitting process.
"""
