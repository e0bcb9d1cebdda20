"""Plans: what somebody means to do, and when it is due."""
