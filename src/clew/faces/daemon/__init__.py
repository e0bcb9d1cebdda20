"""The daemon: one process that owns a data folder and answers JSON-RPC on a local socket."""
