"""A filesystem in memory that behaves like a remote store, and fails according to a plan."""
