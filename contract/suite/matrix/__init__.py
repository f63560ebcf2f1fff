"""Reports of many runs in one table: clauses down, targets across."""
