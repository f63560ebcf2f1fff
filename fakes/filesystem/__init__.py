"""A filesystem in memory that behaves like a remote store, and fails when it is told to."""
