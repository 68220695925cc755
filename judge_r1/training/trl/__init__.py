"""Training with TRL."""
