"""Subcommands of `fscontract`, one module each, which import what they need when they run."""
