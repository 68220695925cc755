"""A retriever that several processes and nodes share over HTTP: `python -m retrieval.server --help`."""
