"""Checked and documented checkpoints."""
