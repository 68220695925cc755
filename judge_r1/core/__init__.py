"""What every room shares: records and their words, errors, registries, addresses of endpoints, event loops."""
