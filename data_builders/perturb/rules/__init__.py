"""Rule-based flaws, one file a principle."""
