"""Load the specification: clauses, profiles and files of known failures."""


class RenamedWarning(FutureWarning):
    """An old name was read; the message says which name it has now."""
