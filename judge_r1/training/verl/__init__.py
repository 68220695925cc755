"""The verl engine: the same recipe, episode and reward on Ray. Nothing outside this package imports verl.

verl itself is used as released. What is ours enters through its public doors: an agent loop (`agent_loop`), a reward
function (`reward`), an advantage estimator (`advantage`), a parquet file (`parquet`) and configuration (`overrides`);
`train` starts it. `cpu` lets the same trainer run on machines without an accelerator.
"""
