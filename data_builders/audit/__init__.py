"""What to know of a set of pairs before it is trusted: shortcuts, statistics, and what people say of it."""
