"""How well Clew finds what it keeps, measured on datasets that are given by path, beside baselines and peers."""
