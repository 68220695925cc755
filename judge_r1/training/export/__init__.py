"""Exports checkpoints as verified Hugging Face folders with model cards."""
