"""Attacks on a judge: texts that argue for the worse candidate without being a better one (docs/security.md)."""
