"""Training rows made from labelled pairs."""
