"""Puts this folder on the path, so that the rooms below it find its toys."""
