"""Rates judges on the votes of any benchmark: Bradley–Terry on the Elo scale, with a page."""
