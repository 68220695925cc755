"""Evaluation of judges: results, metrics with intervals, the summary and the report."""
