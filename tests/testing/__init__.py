"""What tests share: the in-memory store that every store is compared with."""
