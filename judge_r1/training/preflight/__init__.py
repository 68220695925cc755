"""Checks before training. Each returns None, or one sentence that says what is wrong and what to do."""
