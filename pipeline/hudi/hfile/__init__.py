"""HFile v3 as Hudi writes it: a sorted file of keys and values with an index at its end."""
