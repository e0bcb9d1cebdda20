"""What tests share: daemons, drafts, data, and the in-memory store that every store is compared with."""
