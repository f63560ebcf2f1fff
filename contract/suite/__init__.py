"""Running programs against a binding and reporting what held."""
