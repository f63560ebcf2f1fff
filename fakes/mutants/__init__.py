"""Memory streams that break one clause each, one module per document."""
