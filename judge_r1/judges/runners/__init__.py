"""Judges that run requests concurrently: at endpoints (these need the extra `endpoints`) and in servers."""
