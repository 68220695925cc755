"""Metrics of a run, live and afterwards."""
