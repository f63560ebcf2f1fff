"""The subcommands `split` and `read` of `fscontract`; what they need is imported when they run."""
