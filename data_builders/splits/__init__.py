"""Training and test splits without leaks."""
