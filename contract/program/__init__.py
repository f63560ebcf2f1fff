"""Programs as data: calls with their arguments and outcomes, opens, faults, and file content."""
