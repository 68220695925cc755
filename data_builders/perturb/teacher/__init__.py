"""Flaws written by a teacher model."""
