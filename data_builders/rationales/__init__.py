"""Rationales for the warm-up, one file a writer."""
