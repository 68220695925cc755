"""Flaws written by a teacher model, and the checks on them."""
