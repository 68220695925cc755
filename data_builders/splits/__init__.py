"""Splits of pairs into training and test sets without leaks."""
