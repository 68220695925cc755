WEIGHTS: dict[tuple[str, str], dict[str, float]] = {}
