"""Files: JSON, JSON Lines, YAML, tables and text; locks, digests and partial files; sets of pairs on disk."""
