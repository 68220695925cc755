"""The verl engine: the same recipe, episode and reward on Ray. Only this package imports verl.

verl runs unmodified and is extended through its public interfaces: an agent loop (`agent_loop`), a reward function
(`reward`), an advantage estimator (`advantage`), a group filter (`group_filter`), a parquet file (`dataset`) and
configuration (`config`). `runner` starts it. `cpu` lets the trainer run on machines without an accelerator.
"""
