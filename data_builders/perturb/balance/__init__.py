"""Chooses among the flaws of a build, of any origin, so that texts without their case reveal little."""
