"""Defaults of `BuildPlan`, which the help of `judge-r1 build` shows without the generators."""

DEFAULT_MODEL = "bundled:smollm2-135m"
"""Of `reader`."""
CANDIDATES = 120
"""Of `candidates`, where rules make the flaws."""
