"""Parts of other frameworks that call a judge. Each module needs its framework installed."""
