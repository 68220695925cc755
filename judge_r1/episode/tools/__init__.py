"""Tools that a judge calls in an episode: one file each, which registers itself."""
