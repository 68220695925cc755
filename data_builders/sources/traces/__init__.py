"""Traces of agents as cases: a scripted agent at work, or traces of a folder, and what can be claimed about them."""
