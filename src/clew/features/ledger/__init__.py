"""The ledger: what agents did, captured, harvested and looked up."""
