"""The programs that agents run in: how each calls Clew, and how it is told to."""
