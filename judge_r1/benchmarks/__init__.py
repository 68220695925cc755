"""Judge benchmarks, one file or folder each."""
