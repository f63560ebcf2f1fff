"""Reference filesystems, and bindings to other APIs."""
