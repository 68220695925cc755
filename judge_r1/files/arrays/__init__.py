"""Sequences and mappings of a million entries: they look like lists and dicts, and only this folder sees the arrays."""
