"""One manipulation per file, registered under its name."""
