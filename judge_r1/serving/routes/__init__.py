"""The HTTP routes, one group a file."""
