"""A run in parts, each of which a task somewhere else has.

`part` says which part that is, `gather` makes it and `recording` writes down what it finds;
`partial` is the evidence on its way, `merging` puts the parts together. `port` is where tasks run,
`driver` sends and awaits them, `files` sees whether they find the same files as who sent them.
"""
