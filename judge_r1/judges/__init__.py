"""Ways of judging, one to a file."""
