"""Measures Clew against its peers: `python -m bench` runs everything and rewrites `docs/benchmarks.md`."""
