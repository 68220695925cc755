"""The web page of a served judge."""
