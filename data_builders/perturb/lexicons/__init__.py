"""Word lists and weights of the rule-based flaws."""
