"""A judge on people's labels: how far it can be trusted on them, and whether that stays so (docs/labels.md)."""
