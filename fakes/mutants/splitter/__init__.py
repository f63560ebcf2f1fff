"""Mutants of the splitter: each violates one clause of specs/splitter.yaml."""
