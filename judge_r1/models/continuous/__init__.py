"""Dynamic batching: requests join a running batch at any step and leave when they are done."""
