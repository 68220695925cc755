"""Builds training rows from labelled pairs."""
