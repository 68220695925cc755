"""Breaking a reference reasoning on purpose, at a known place, in a known way."""
