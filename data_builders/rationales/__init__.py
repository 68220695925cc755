"""Rationale traces for the warm-up, one file a writer."""
