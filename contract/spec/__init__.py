"""Load the specification: clauses, profiles and files of known failures."""


class RenamedWarning(FutureWarning):
    """A value uses an old name; the message gives the new one."""
