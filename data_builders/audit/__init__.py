"""Audits a set of pairs: shortcut probes, dataset statistics, and annotation by people."""
