"""Benchmarks of speed, memory and endurance: `python -m scripts.bench.NAME --help`."""
