"""The programs that agents run in: how each calls Clew, and how Clew gets into its settings."""
