"""Shows the metrics of a run, live or afterwards."""
