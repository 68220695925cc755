"""Language models: local engines, OpenAI-compatible endpoints, and the hub."""
