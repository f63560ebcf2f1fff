"""What must hold, as data."""
