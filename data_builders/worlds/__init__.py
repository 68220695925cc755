"""Toy worlds: languages of a few hundred words for models that train on a laptop.

A world is one folder. Its `source` writes the cases, its `rules` break the principles in them, and its `rationales`
are the episodes of the warm-up. Each registers under the name of the world. The weights of a model for a world are in
`judge_r1/models/`, where `bundled:NAME` finds them.
"""
