"""Writes and verifies conversations without a model: templates over the facts of a document, flaws by rule."""
