"""Mutants of the splitter: each breaks one clause of specs/splitter.yaml."""
