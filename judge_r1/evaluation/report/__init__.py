"""HTML and text reports of evaluations."""
