"""Model packs: built, downloaded, checked, opened."""
