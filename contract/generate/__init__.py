"""Sources of programs: vectors, short and long programs, opens, faults, and Hypothesis."""
