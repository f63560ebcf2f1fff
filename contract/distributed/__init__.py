"""Runs whose shards are tasks somewhere else, such as in Spark's executors.

`part` says which part that is, `gather` makes it and `recording` writes down what it finds;
`partial` is the evidence on its way, `merging` puts the parts together. `port` is where tasks run,
`driver` sends and awaits them, `files` sees whether they find the same files as who sent them.
"""
