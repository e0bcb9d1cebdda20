"""What both ends of a socket agree on: addresses, frames, where a daemon serves."""
