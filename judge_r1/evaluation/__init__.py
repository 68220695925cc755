"""How good a judge is: outcomes, metrics with intervals, the summary, and the report to read."""
