"""Authentication, limits and metrics."""
