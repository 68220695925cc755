"""Judges behind an endpoint; imported where one is asked for, since they need the extra `endpoints`."""
