"""Records and plumbing that every other folder uses."""
